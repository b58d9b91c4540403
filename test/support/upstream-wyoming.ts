import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'

/**
 * A Wyoming server written from the protocol's description. It reads and writes frames without the
 * product's code.
 */
export interface Heard {
  readonly type: string
  readonly data: Record<string, unknown>
  readonly payload: Buffer
}

export type Reply = (heard: Heard, socket: Socket, all: readonly Heard[]) => void

export async function startWyoming(reply: Reply) {
  const heard: Heard[] = []
  const closed = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    let held = Buffer.alloc(0)
    const mine: Heard[] = []
    socket.on('error', () => {})
    socket.on('close', () => closed.resolve())
    socket.on('data', (bytes: Buffer) => {
      held = Buffer.concat([held, bytes])
      for (let event = take(); event !== null; event = take()) {
        heard.push(event)
        mine.push(event)
        reply(event, socket, mine)
      }
    })
    function take(): Heard | null {
      const end = held.indexOf(10)
      if (end < 0) return null
      const head = JSON.parse(held.subarray(0, end).toString())
      const dataEnd = end + 1 + (head.data_length ?? 0)
      const all = dataEnd + (head.payload_length ?? 0)
      if (held.length < all) return null
      const more = head.data_length ? JSON.parse(held.subarray(end + 1, dataEnd).toString()) : {}
      const event = {
        type: head.type,
        data: { ...head.data, ...more },
        payload: held.subarray(dataEnd, all),
      }
      held = held.subarray(all)
      return event
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    /** Resolves when a client has closed its connection. */
    closed: closed.promise,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

/** A frame with its data in the header line, as older servers write it, or after the line. */
export function frame(type: string, data: object = {}, payload = Buffer.alloc(0), inline = false) {
  const json = Buffer.from(JSON.stringify(data))
  const head = inline
    ? { type, data, payload_length: payload.length }
    : { type, version: '1.7.2', data_length: json.length, payload_length: payload.length }
  const parts = [Buffer.from(`${JSON.stringify(head)}\n`), ...(inline ? [] : [json]), payload]
  return Buffer.concat(parts)
}
