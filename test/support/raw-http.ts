import type { Socket } from 'bun'

export type RawClient = Socket<{ received: string }>

/**
 * A TCP server whose answers the test writes byte by byte: `onRequest` gets each whole HTTP request
 * of a connection and its number. `using server = listenRawHttp(...)`.
 */
export function listenRawHttp(
  onRequest: (caller: RawClient, request: string, count: number) => void,
  tls?: { readonly cert: string; readonly key: string },
) {
  let count = 0
  let connections = 0
  const gone = Promise.withResolvers<void>()
  const server = Bun.listen<{ received: string }>({
    hostname: '127.0.0.1',
    port: 0,
    ...(tls ? { tls } : {}),
    socket: {
      open(socket) {
        connections += 1
        socket.data = { received: '' }
      },
      data(socket, bytes) {
        const caller = socket.data
        caller.received += bytes.toString('latin1')
        const end = caller.received.indexOf('\r\n\r\n')
        const length = Number(/content-length: (\d+)/.exec(caller.received)?.[1] ?? 0)
        if (end < 0 || caller.received.length < end + 4 + length) return
        const request = caller.received
        caller.received = ''
        count += 1
        onRequest(socket, request, count)
      },
      close: () => gone.resolve(),
    },
  })
  const scheme = tls ? 'https' : 'http'
  return {
    url: `${scheme}://127.0.0.1:${server.port}/v1/x?y=1`,
    port: server.port,
    connections: () => connections,
    /** Resolves when a connection has closed. */
    gone: gone.promise,
    [Symbol.dispose]: () => server.stop(true),
  }
}
