import { createResponseReader, type ResponseReader } from './response.ts'

export interface Connection {
  /** Sends one request and resolves with the status once the response is complete. */
  send(request: Buffer, onBody?: (bytes: Buffer) => void): Promise<number>
  close(): void
}

interface Exchange {
  readonly reader: ResponseReader
  readonly resolve: (status: number) => void
  readonly reject: (error: Error) => void
}

/**
 * A minimal keep-alive connection, so that processor time goes to the servers and not to the load
 * generator. One request after the other, plain http only.
 */
export async function openConnection(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  let exchange: Exchange | null = null
  const fail = (error: Error) => {
    const failed = exchange
    exchange = null
    failed?.reject(error)
  }
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        if (!exchange?.reader.feed(bytes)) return
        const { resolve, reader } = exchange
        exchange = null
        resolve(reader.status())
      },
      close: () => fail(new Error('connection closed')),
      error: (_, error) => fail(error),
    },
  })
  return {
    send: (request, onBody = () => {}) =>
      new Promise((resolve, reject) => {
        exchange = { reader: createResponseReader(onBody), resolve, reject }
        if (socket.write(request) < request.length) fail(new Error('request not written at once'))
      }),
    close: () => socket.end(),
  }
}

export interface RequestParts {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The bytes of a request. */
export function requestBytes({ method, url, headers, body = '' }: RequestParts): Buffer {
  const { host, pathname, search } = new URL(url)
  const all: Record<string, string> = { host, ...headers }
  if (body) {
    all['content-type'] = 'application/json'
    all['content-length'] = String(Buffer.byteLength(body))
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}
