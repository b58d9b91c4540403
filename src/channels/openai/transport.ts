import { createSender, type SenderOptions, type SendingCall } from '../net/upstream-call.ts'

export type TransportOptions = SenderOptions

export type Transport = ReturnType<typeof createTransport>

/** The requests of chat. Throws `ChannelFailure`, or the caller's abort reason. */
export function createTransport(options: TransportOptions) {
  const send = createSender(options)
  return {
    list: (call: SendingCall) => send(call, '/models', { headers: { accept: 'application/json' } }),
    /** Uncompressed: a compressor on the way would hold tokens back. */
    complete: (call: SendingCall, body: object, accept: 'text/event-stream' | 'application/json') =>
      send(call, '/chat/completions', {
        method: 'POST',
        headers: { accept, 'accept-encoding': 'identity', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}
