import { version } from '../../package.json'
import { listenWyoming } from '../channels/wyoming/server.ts'
import { ConfigError } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { newId } from '../core/crypto.ts'
import { appError } from '../core/errors.ts'
import { isLoopback } from '../core/loopback.ts'
import { createWyomingHandler } from '../doors/wyoming/handler.ts'
import type { WyomingCaller, WyomingRow } from '../doors/wyoming/requests.ts'
import type { OpenTurns } from '../features/agent/open-turns.ts'
import type { Agent } from '../features/agent/service.ts'
import type { Keys } from '../features/keys/service.ts'
import type { Voice } from '../features/voice/service.ts'
import type { Call } from '../http/gate.ts'
import type { LoggedRequest } from '../http/observe.ts'
import type { WyomingServer } from '../upstream/ports/wyoming.ts'
import type { Adapters } from './adapters.ts'

interface WyomingNeeds {
  readonly keys: Keys
  readonly call: Call
  readonly agent: Agent
  readonly openTurns: OpenTurns
  readonly voice: Voice
  readonly record: (request: LoggedRequest) => void
}

/** The Wyoming server for Home Assistant; null unless it is configured. */
export function openWyoming(adapters: Adapters, needs: WyomingNeeds) {
  const { config, clock, log, speech } = adapters
  const { keys, call, agent, openTurns, voice, record } = needs
  const { MB_WYOMING_PORT: port, MB_WYOMING_KEY: key, MB_HOST: host } = config
  if (port === undefined || key === undefined) return null

  async function caller(): Promise<WyomingCaller | null> {
    const known = await keys.find(key ?? '')
    if (!known) return null
    const { principal } = known
    return { principal, take: () => call(known, principal, true) }
  }

  const wav = (samples: Uint8Array, rate: number) =>
    speech.codecs.wav(new Int16Array(samples.slice().buffer), rate)

  const open = createWyomingHandler({
    caller,
    agent,
    openTurns,
    voice,
    wav,
    clock,
    log,
    version,
    record: (row) => record(loggedRow(row, clock)),
  })

  return {
    /**
     * Listens; adds a line for the start banner. Throws `ConfigError` where the address is taken.
     */
    async listen(): Promise<WyomingServer & { readonly description: string }> {
      const { message: text, code } = appError('too_many_connections')
      const server = await listenWyoming({ host, port, open, full: { text, code } }).catch(
        (error: NodeJS.ErrnoException) => {
          throw new ConfigError(`MB_WYOMING_PORT ${port} cannot be used on ${host}: ${error.code}`)
        },
      )
      log.info('wyoming listens', { host, port: server.port })
      // Wyoming has no login: every client that reaches the port acts with this key.
      const isOpen = !isLoopback(host)
      if (isOpen) log.warn('wyoming is open to the network', { host })
      const isKnown = (await caller()) !== null
      if (!isKnown) log.warn('wyoming key is unknown or revoked', { setting: 'MB_WYOMING_KEY' })
      const notes = [isOpen && 'open to the network', !isKnown && 'its key is unknown or revoked']
      const description = [`${host}:${server.port}`, ...notes].filter(Boolean).join(', ')
      const { port: bound, stop, close, busy } = server
      return { port: bound, stop, close, busy, description }
    },
  }
}

function loggedRow(row: WyomingRow, clock: Clock): LoggedRequest {
  return {
    requestId: newId(),
    endpoint: '/wyoming',
    principal: row.principal,
    sessionId: row.sessionId ?? null,
    textChars: row.textChars ?? null,
    channel: row.channel ?? null,
    status: row.status,
    errorClass: row.errorClass,
    startedAt: clock.steady() - row.latencyMs,
    latencyMs: row.latencyMs,
    ts: clock.now(),
    later: null,
    ended: null,
  }
}
