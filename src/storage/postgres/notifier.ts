import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type Db, sql } from '../db.ts'
import { type Connection, openConnection } from './connection.ts'

/** The one channel of all servers of a database. */
const CHANNEL = 'moonbase'
/** Topics are sent together this often: each message locks the whole database server. */
const GATHER_MS = 50
/** PostgreSQL accepts less than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_000
const AGAIN_MS = 1_000
/** How often a connection is asked whether it is still there. */
const ALIVE_MS = 15_000
const ANSWER_MS_MAX = 5_000

/** Stands for every topic. */
const ALL = '*'

export interface NotifierOptions {
  readonly db: Pick<Db, 'get'>
  /** The direct address, because poolers pass no notifications on. Null: nothing is sent. */
  readonly url: string | null
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Wakes other servers of the database, so that they read at once what they would find by polling.
 * A lost message only causes a delay. A message is sent after the transaction that it is about,
 * because a NOTIFY inside would make transactions commit one by one.
 */
export function createNotifier({ db, url, clock, log }: NotifierOptions) {
  const listeners = new Map<string, Set<() => void>>()
  let topics = new Set<string>()
  let cancel: (() => void) | null = null
  let sentAt = Number.NEGATIVE_INFINITY
  let connection: Connection | null = null
  const stopping = new AbortController()

  function dispatch(payload: string): void {
    const received = new Set(payload.split(' '))
    for (const [topic, wakes] of listeners) {
      if (received.has(ALL) || received.has(topic)) for (const wake of [...wakes]) wake()
    }
  }

  function send(): void {
    cancel = null
    sentAt = clock.steady()
    const all = [...topics].join(' ')
    topics = new Set()
    const payload = Buffer.byteLength(all) > PAYLOAD_BYTES_MAX ? ALL : all
    db.get(sql`SELECT pg_notify(${CHANNEL}, ${payload})`).catch(() => {})
  }

  /** Listens until the connection is lost. */
  async function listen(direct: string): Promise<void> {
    const lost = new AbortController()
    const opened = openConnection({
      url: direct,
      clock,
      onLost: () => lost.abort(new Error('the connection was lost')),
      onNotify: (_, payload) => dispatch(payload),
    })
    const ended = AbortSignal.any([lost.signal, stopping.signal])
    connection = opened
    try {
      await opened.send([{ sql: `LISTEN ${CHANNEL}`, args: [] }], ANSWER_MS_MAX)
      // Messages may have been missed before the connection listened.
      dispatch(ALL)
      while (opened.isOpen()) {
        await clock.sleep(ALIVE_MS, ended)
        await opened.send([sql`SELECT 1`], ANSWER_MS_MAX)
      }
    } finally {
      await opened.close()
    }
  }

  async function listenAgain(direct: string): Promise<void> {
    while (!stopping.signal.aborted) {
      await listen(direct).catch((error) => {
        if (!stopping.signal.aborted) log.warn('listening ended', errorFields(error))
      })
      await clock.sleep(AGAIN_MS, stopping.signal).catch(() => {})
    }
  }

  const listening = url === null ? Promise.resolve() : listenAgain(url)

  return {
    /** Sends `topic` to all servers, this one included. A topic has no blanks. */
    notify(topic: string): void {
      if (url === null || stopping.signal.aborted) return
      topics.add(topic)
      cancel ??= clock.after(Math.max(0, sentAt + GATHER_MS - clock.steady()), send)
    },

    /** Calls `wake` at each message of this topic, until the returned function is called. */
    on(topic: string, wake: () => void): () => void {
      const wakes = listeners.get(topic) ?? new Set()
      listeners.set(topic, wakes.add(wake))
      return () => {
        wakes.delete(wake)
        if (wakes.size === 0) listeners.delete(topic)
      }
    },

    async close(): Promise<void> {
      stopping.abort()
      if (cancel) {
        cancel()
        send()
      }
      await connection?.close()
      await listening
    },
  }
}

export type Notifier = ReturnType<typeof createNotifier>
