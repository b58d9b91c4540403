import { createSemaphore } from '../../core/semaphore.ts'
import type { Reader, Statement } from '../db.ts'
import type { Neighbour } from '../indexes.ts'
import { type DatabaseFile, errorOf } from './connection.ts'
import type { NearestWanted, ReaderAnswer, ReaderAsk, ReaderRequest } from './reader.ts'

export interface ReadThread extends Reader {
  /** The nearest vectors of a space, nearest first. */
  nearest(tenantId: string, wanted: NearestWanted, signal?: AbortSignal): Promise<Neighbour[]>
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (rows: readonly unknown[]) => void
  readonly reject: (error: Error) => void
}

type Thread = ReturnType<typeof startThread>

/** Statements that the thread has at a time: with a second one it never waits for the next. */
const STATEMENTS_AT_ONCE = 2

/**
 * Tenants take turns statement by statement, so that one with a thousand searches delays another by
 * two statements at most. The first search starts the thread; after a failed start or a death of
 * the thread the next search starts it again. `readerUrl` is the address of `reader.ts`. `onError`
 * is called with the error of every read that fails.
 */
export function createReadThread(
  file: DatabaseFile,
  readerUrl: string,
  onError: (error: unknown) => void = () => {},
): ReadThread {
  const turns = createSemaphore({ slots: STATEMENTS_AT_ONCE })
  let current: Promise<Thread> | null = null
  let closed = false

  async function open(onDeath: () => void): Promise<Thread> {
    const thread = startThread(readerUrl, onDeath)
    try {
      await thread.ask({ type: 'open', file })
      return thread
    } catch (error) {
      onDeath()
      thread.end()
      throw error
    }
  }

  function thread(): Promise<Thread> {
    if (closed) throw new Error('the database is closed')
    if (current) return current
    // Called late, this must not drop the thread that has replaced this one.
    const fresh = open(() => {
      if (current === fresh) current = null
    })
    current = fresh
    return fresh
  }

  async function read(work: ReaderAsk): Promise<readonly unknown[]> {
    try {
      return await (await thread()).ask(work)
    } catch (error) {
      onError(error)
      throw error
    }
  }

  return {
    all: <Row>(tenantId: string, statement: Statement, signal?: AbortSignal) =>
      turns.run(tenantId, async () => (await read({ type: 'read', statement })) as Row[], signal),
    nearest: (tenantId, wanted, signal) =>
      turns.run(
        tenantId,
        async () => (await read({ type: 'nearest', wanted })) as Neighbour[],
        signal,
      ),
    async close() {
      if (closed) return
      closed = true
      const last = await current?.catch(() => null)
      if (!last) return
      await last.ask({ type: 'close' })
      last.end()
    },
  }
}

/** One thread, and the questions that it has not answered yet. `onDeath` may be called late. */
function startThread(readerUrl: string, onDeath: () => void) {
  const worker = new Worker(readerUrl)
  const waiting = new Map<number, Waiting>()
  let lastId = 0

  worker.onmessage = ({ data }: MessageEvent<ReaderAnswer>) => {
    const asked = waiting.get(data.id)
    waiting.delete(data.id)
    if ('fault' in data) asked?.reject(errorOf(data.fault))
    else asked?.resolve(data.rows)
  }
  worker.onerror = ({ message }) => {
    onDeath()
    for (const { reject } of waiting.values()) reject(new Error(message))
    waiting.clear()
  }

  return {
    ask(message: ReaderAsk): Promise<readonly unknown[]> {
      const id = ++lastId
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        const request: ReaderRequest = { id, ...message }
        worker.postMessage(request)
      })
    },
    end: () => worker.terminate(),
  }
}
