import { createConnection } from 'node:net'
import { frame, type Heard } from './upstream-wyoming.ts'

/**
 * A Wyoming client written from the protocol's description, as Home Assistant uses one: a
 * connection a request. `await using client = await connectWyoming(port)`
 */
export async function connectWyoming(port: number) {
  const socket = createConnection({ host: '127.0.0.1', port })
  const received: Heard[] = []
  const raw: Buffer[] = []
  let held = Buffer.alloc(0)
  let isClosed = false
  let news = Promise.withResolvers<void>()
  const tell = () => {
    news.resolve()
    news = Promise.withResolvers()
  }
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    tell()
  })
  socket.on('data', (bytes: Buffer) => {
    raw.push(bytes)
    held = Buffer.concat([held, bytes])
    for (let event = take(); event !== null; event = take()) received.push(event)
    tell()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })

  function take(): Heard | null {
    const end = held.indexOf(10)
    if (end < 0) return null
    const head = JSON.parse(held.subarray(0, end).toString())
    const dataEnd = end + 1 + (head.data_length ?? 0)
    const all = dataEnd + (head.payload_length ?? 0)
    if (held.length < all) return null
    const more = head.data_length ? JSON.parse(held.subarray(end + 1, dataEnd).toString()) : {}
    const payload = Buffer.from(held.subarray(dataEnd, all))
    held = held.subarray(all)
    return { type: head.type, data: { ...head.data, ...more }, payload }
  }

  async function next(): Promise<Heard | null> {
    while (received.length === 0 && !isClosed) await news.promise
    return received.shift() ?? null
  }

  return {
    socket,
    raw,
    send: (type: string, data: object = {}, payload?: Buffer<ArrayBuffer>) =>
      void socket.write(frame(type, data, payload)),
    /** The next event; null when the server has closed the connection. */
    next,
    /** Events up to one of this type, or to the end of the connection. */
    async until(type: string): Promise<Heard[]> {
      const all: Heard[] = []
      for (let event = await next(); event !== null; event = await next()) {
        all.push(event)
        if (event.type === type) break
      }
      return all
    },
    /** Resolves when the server has closed the connection. */
    async closed(): Promise<void> {
      while (!isClosed) await news.promise
    },
    [Symbol.asyncDispose]: async () => void socket.destroy(),
  }
}

export type WyomingClient = Awaited<ReturnType<typeof connectWyoming>>
