import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { bearerToken, type KnownKey } from '../../http/gate.ts'
import { type LoggedRequest, type RequestContexts, rowOfStep } from '../../http/observe.ts'
import type { Stage } from '../../speech/stages.ts'
import type { AudioCodecs } from '../../upstream/ports/speech.ts'
import { BoardSession, type SessionOptions, sessionOf } from './session.ts'
import type { OpenSocket, Sockets } from './sockets.ts'

export interface SocketRouteOptions extends SessionOptions {
  readonly sockets: Sockets
  readonly codecs: Pick<AudioCodecs, 'packetDecoder'>
  readonly keys: { readonly find: (token: string) => Promise<KnownKey | null> }
  /** Counts a turn to its key (http/gate.ts, `createCalls`). */
  readonly call: (key: KnownKey, principal: Principal, isTurn: boolean) => Promise<unknown>
  readonly contexts: RequestContexts
  readonly record: (request: LoggedRequest) => void
}

/** The used part of Bun's socket. */
interface BunSocket {
  sendText(text: string): number
  sendBinary(bytes: Uint8Array): number
  close(code: number, reason: string): void
}

/** The handlers that Elysia calls on the data of a socket (elysia, ws/index). */
interface SocketData {
  open(ws: BunSocket): void
  message(ws: BunSocket, message: string | Uint8Array): void
  close(ws: BunSocket): void
}

interface Upgrading {
  upgrade(request: Request, options: { readonly data: SocketData }): boolean
}

interface SocketRequest {
  readonly request: Request
  readonly server: Upgrading | null
}

/** The socket of boards. Simulators in a browser pass their key in the query. */
export function socketRoutes(options: SocketRouteOptions) {
  const { sockets, codecs, keys, call, contexts, record, clock } = options

  /** The current state of the key. Throws a 401 for none, a 403 for one that is not a device's. */
  async function keyOf(token: string | null): Promise<KnownKey> {
    const key = token === null ? null : await keys.find(token)
    if (!key) throw appError('invalid_key')
    if (key.principal.kind !== 'device') throw appError('forbidden', { who: key.principal.kind })
    return key
  }

  async function open({ request, server }: SocketRequest): Promise<Response | undefined> {
    const { headers, url } = request
    const query = new URL(url).searchParams
    const token =
      bearerToken(headers.get('authorization')) ??
      bearerToken(query.get('authorization')) ??
      bearerToken(`Bearer ${query.get('authorization')}`)
    const { principal } = await keyOf(token)
    contexts.note(request, { principal, sessionId: sessionOf(principal) })
    const known = contexts.of(request)
    const latencyMs = Math.round(clock.steady() - (known?.startedAt ?? clock.steady()))
    const onStage = (stage: Stage) => {
      if (known && stage.status !== 401) record(rowOfStep(known, stage, clock.now()))
    }
    const admit = async () => {
      const key = await keyOf(token)
      await call(key, key.principal, true)
      return key.principal
    }
    const decoder = await codecs.packetDecoder()
    let session: BoardSession | null = null
    let entry: OpenSocket | null = null
    const data: SocketData = {
      open(ws) {
        const caller = {
          principal,
          version: headers.get('protocol-version'),
          admit,
          onStage,
          decoder,
        }
        session = new BoardSession(options, caller, ws)
        const opened = session
        entry = {
          principal,
          close: (code, reason) => ws.close(code, reason),
          isIdle: () => opened.isIdle,
          say: (texts, onUnheard) => opened.say(texts, onUnheard),
        }
        sockets.add(entry)
      },
      message(_, message) {
        if (typeof message === 'string') session?.onText(message)
        else session?.onBinary(message)
      },
      close() {
        session?.close()
        if (entry) sockets.remove(entry)
        const step = { endpoint: '/xiaozhi', status: 101, latencyMs }
        if (known) record(rowOfStep(known, step, clock.now()))
      },
    }
    if (server?.upgrade(request, { data })) return undefined
    decoder.release()
    throw appError('invalid_request')
  }

  const path = '/xiaozhi/v1'
  return new Elysia({ name: 'xiaozhi socket' }).get(path, ({ request, server }) =>
    open({ request, server: server as Upgrading | null }),
  )
}
