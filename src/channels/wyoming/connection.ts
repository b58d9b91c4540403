import type { Socket } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { WyomingEvent } from '../../upstream/ports/wyoming.ts'
import { createEventDecoder, encodeEvent } from './protocol.ts'

export interface WyomingAddress {
  readonly host: string
  readonly port: number
}

export interface WyomingConnection {
  /** Resolves when the other side accepts more. */
  send(type: string, data?: Readonly<Record<string, unknown>>, payload?: Uint8Array): Promise<void>
  /**
   * The events of the other side. Throws `ChannelFailure` when it closes the connection, sends
   * `error` or is silent for longer than `silenceMs`.
   */
  events(silenceMs: number): AsyncGenerator<WyomingEvent>
  close(): void
}

const CONNECT_MS_MAX = 10_000

/** `tcp://host:port`; throws `ChannelFailure` for anything else. */
export function parseAddress(url: string): WyomingAddress {
  const parsed = URL.parse(url)
  const port = Number(parsed?.port)
  if (parsed?.protocol !== 'tcp:' || parsed.hostname === '' || port === 0) {
    throw new ChannelFailure('channel_unavailable', 'invalid base URL')
  }
  return { host: parsed.hostname.replace(/^\[|\]$/g, ''), port }
}

/** Throws `ChannelFailure` when nobody answers. The connection ends with the signal. */
export async function connect(
  address: WyomingAddress,
  clock: Clock,
  signal: AbortSignal,
): Promise<WyomingConnection> {
  const { createConnection } = await import('node:net')
  signal.throwIfAborted()
  const socket = createConnection({ ...address, noDelay: true })
  const leave = () => socket.destroy(toError(signal.reason))
  signal.addEventListener('abort', leave, { once: true })
  const close = () => {
    signal.removeEventListener('abort', leave)
    socket.destroy()
  }
  const broken = (cause: unknown) => {
    if (signal.aborted) return signal.reason
    return new ChannelFailure('retry_exhausted', 'connection broken', { retryable: true, cause })
  }
  try {
    await connected(socket, clock)
  } catch (cause) {
    close()
    signal.throwIfAborted()
    throw new ChannelFailure('retry_exhausted', 'connection failed', { retryable: true, cause })
  }
  // The reader gets every error; without a listener here it would end the process.
  socket.on('error', () => {})
  return {
    close,
    async send(type, data, payload) {
      if (socket.destroyed) throw broken(null)
      const bytes = encodeEvent(type, data, payload)
      await new Promise<void>((resolve, reject) => {
        socket.write(bytes, (error) => (error ? reject(broken(error)) : resolve()))
      })
    },
    async *events(silenceMs) {
      const decode = createEventDecoder()
      const chunks: AsyncIterator<Uint8Array> = socket[Symbol.asyncIterator]()
      for (;;) {
        const cancel = clock.after(silenceMs, () => socket.destroy(new Error('silent')))
        const next = await chunks
          .next()
          .catch((error: unknown) => Promise.reject(broken(error)))
          .finally(cancel)
        if (next.done) throw broken(null)
        for (const event of decode(next.value)) {
          if (event.type === 'error') throw new ChannelFailure('provider_error', 'upstream error')
          yield event
        }
      }
    },
  }
}

function connected(socket: Socket, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(CONNECT_MS_MAX, () => socket.destroy(new Error('timed out')))
    socket.once('connect', () => {
      cancel()
      socket.off('error', reject)
      resolve()
    })
    socket.once('error', reject)
    socket.once('close', () => {
      cancel()
      reject(new Error('closed'))
    })
  })
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted')
}
