import type { Server, Socket } from 'node:net'
import { orAborted } from '../../core/abort.ts'
import {
  IDLE_SECONDS_MAX,
  WYOMING_CONNECTIONS_MAX,
  WYOMING_EVENT_BYTES_MAX,
} from '../../core/limits/machine.ts'
import type { WyomingHandler, WyomingPeer, WyomingServer } from '../../upstream/ports/wyoming.ts'
import { createEventDecoder, type DecodedEvent, encodeEvent } from './protocol.ts'

export interface WyomingServerOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Begins to serve a client that has connected. */
  readonly open: (peer: WyomingPeer) => WyomingHandler
  /** The event that a client beyond the limit of connections is sent before it is closed. */
  readonly full: Readonly<Record<string, unknown>>
}

interface Connection {
  isBusy(): boolean
  /** Sends what is buffered, aborts what is being handled, and closes. */
  end(): void
}

/** Listens for Wyoming clients; rejects when the address cannot be listened on. */
export async function listenWyoming(options: WyomingServerOptions): Promise<WyomingServer> {
  const { host, port, open, full } = options
  const { createServer } = await import('node:net')
  const connections = new Set<Connection>()
  const server = createServer({ noDelay: true }, (socket) => {
    if (connections.size >= WYOMING_CONNECTIONS_MAX) {
      socket.on('error', () => {})
      socket.write(encodeEvent('error', full), () => socket.end())
      return
    }
    const connection = serve(socket, open)
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })
  await listening(server, host, port)
  const address = server.address()
  const busy = () => [...connections].filter((one) => one.isBusy())
  return {
    port: typeof address === 'object' ? (address?.port ?? port) : port,
    busy: () => busy().length,
    stop() {
      server.close()
      for (const one of connections) if (!one.isBusy()) one.end()
    },
    close() {
      if (server.listening) server.close()
      for (const one of connections) one.end()
    },
  }
}

const listening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      // An error, such as no free file descriptor, must not end the process.
      server.on('error', () => {})
      resolve()
    })
  })

/** Reads the events of one client and passes them to its handler one after another. */
function serve(socket: Socket, open: WyomingServerOptions['open']): Connection {
  const left = new AbortController()
  const decode = createEventDecoder(WYOMING_EVENT_BYTES_MAX)
  const waiting: DecodedEvent[] = []
  let waitingBytes = 0
  let isWorking = false
  let isBlocked = false
  const isFull = () =>
    waitingBytes > WYOMING_EVENT_BYTES_MAX || waiting.length >= EVENTS_WAITING_MAX

  const peer: WyomingPeer = {
    signal: left.signal,
    async send(type, data, payload) {
      left.signal.throwIfAborted()
      const { promise, resolve } = Promise.withResolvers<void>()
      if (socket.write(encodeEvent(type, data, payload))) return
      socket.once('drain', resolve)
      isBlocked = true
      await orAborted(promise, left.signal).finally(() => socket.off('drain', resolve))
      isBlocked = false
    },
    close: () => void socket.end(),
  }
  const handle = open(peer)

  async function work(): Promise<void> {
    if (isWorking) return
    isWorking = true
    for (let event = waiting[0]; event && !left.signal.aborted; event = waiting[0]) {
      await handle(event)
      waiting.shift()
      waitingBytes -= event.bytes
      if (!isFull() && socket.isPaused()) socket.resume()
    }
    isWorking = false
  }

  socket.on('data', (bytes) => {
    let events: DecodedEvent[]
    try {
      events = decode(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
    } catch {
      // The end of the malformed event is unknown, so nothing after it can be read.
      socket.destroy()
      return
    }
    for (const event of events) {
      waiting.push(event)
      waitingBytes += event.bytes
    }
    // Back-pressure for a client that sends faster than its events are handled.
    if (isFull()) socket.pause()
    void work()
  })
  socket.setTimeout(IDLE_SECONDS_MAX * 1_000, () => {
    if (isBlocked || !isWorking) socket.destroy()
  })
  socket.on('error', () => {})
  socket.once('close', () => left.abort(new Error('client left')))
  return {
    isBusy: () => isWorking,
    end() {
      left.abort(new Error('server stopping'))
      socket.end()
    },
  }
}

/** Events that wait for the one that is handled; a read may bring some more. */
const EVENTS_WAITING_MAX = 16
