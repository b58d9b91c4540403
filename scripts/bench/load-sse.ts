import { type Connection, openConnection, requestBytes } from './connection.ts'
import { createScanner, type StreamFormat } from './scanner.ts'

/** The server and path that stream tokens. */
export interface StreamTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Headers of one worker, where its session is not in the body. */
  readonly ownHeaders?: (worker: number) => Readonly<Record<string, string>>
  readonly format: StreamFormat
  /** The request of one worker; each worker has its own session. */
  readonly body: (worker: number) => string
}

export interface StreamLoad {
  /** Concurrent streams; each worker starts its next stream when the last has ended. */
  readonly streams: number
  /** The total number of streams, or the duration, whichever limit is reached first. */
  readonly requests?: number
  readonly seconds?: number
  /** The exact number of tokens of every stream. */
  readonly tokens: number
  /** The period over which the workers start. */
  readonly rampMs?: number
  readonly stamped?: boolean
}

export interface StreamResult {
  /** Milliseconds from the request to the first token, one for each stream. */
  readonly firstMs: readonly number[]
  /** Milliseconds from the upstream's write to the client's read, one for each stamped token. */
  readonly ageMs: readonly number[]
  readonly streams: number
  readonly tokens: number
  readonly seconds: number
}

const requestOf = ({ url, headers, ownHeaders, body }: StreamTarget, worker: number) => ({
  method: 'POST' as const,
  url,
  headers: Object.assign({}, headers, ownHeaders?.(worker)),
  body: body(worker),
})

/** Loads a target with streams and checks each. Throws on the first incomplete one. */
export async function loadStreams(target: StreamTarget, load: StreamLoad): Promise<StreamResult> {
  const firstMs: number[] = []
  const ageMs: number[] = []
  let tokens = 0
  let started = 0
  const begin = performance.now()
  const deadline = begin + (load.seconds ?? Number.POSITIVE_INFINITY) * 1_000

  async function stream(connection: Connection, request: Buffer) {
    const scanner = createScanner(target.format, load.stamped ? ageMs : null)
    const sent = performance.now()
    const status = await connection.send(request, scanner.feed)
    if (status !== 200) throw new Error(`${target.url} answered ${status}`)
    if (scanner.tokens !== load.tokens || !scanner.ended) {
      throw new Error(`${target.url} gave ${scanner.tokens} of ${load.tokens} tokens`)
    }
    firstMs.push(scanner.firstAt - sent)
    tokens += scanner.tokens
  }

  async function work(worker: number) {
    await Bun.sleep(((load.rampMs ?? 0) * worker) / load.streams)
    const connection = await openConnection(target.url)
    const request = requestBytes(requestOf(target, worker))
    while (performance.now() < deadline && started < (load.requests ?? Number.POSITIVE_INFINITY)) {
      started++
      await stream(connection, request)
    }
    connection.close()
  }

  await Promise.all(Array.from({ length: load.streams }, (_, worker) => work(worker)))
  const seconds = (performance.now() - begin) / 1_000
  return { firstMs, ageMs, streams: firstMs.length, tokens, seconds }
}

/**
 * Opens endless streams, waits for a token on each, calls `look` with a counter of the open ones,
 * and closes them.
 */
export async function holdStreams<Seen>(
  target: StreamTarget,
  streams: number,
  look: (open: () => number) => Promise<Seen>,
): Promise<Seen> {
  let ended = 0
  const open = async (worker: number) => {
    await Bun.sleep(worker / 2)
    const connection = await openConnection(target.url)
    const request = requestBytes(requestOf(target, worker))
    const scanner = createScanner(target.format, null)
    await new Promise<void>((resolve, reject) => {
      const feed = (bytes: Buffer) => {
        scanner.feed(bytes)
        if (scanner.tokens > 0) resolve()
      }
      connection
        .send(request, feed)
        .then((status) => reject(new Error(`${target.url} ended a held stream: ${status}`)), reject)
        .finally(() => ended++)
    })
    return connection
  }
  const connections = await Promise.all(Array.from({ length: streams }, (_, n) => open(n)))
  try {
    return await look(() => streams - ended)
  } finally {
    for (const connection of connections) connection.close()
  }
}
