import { createSemaphore } from '../../core/semaphore.ts'
import { createRestartingThread, startThread } from '../../core/thread.ts'
import type { ListReader, Statement } from '../db.ts'
import type { Neighbour } from '../indexes.ts'
import { type DatabaseFile, errorOf } from './connection.ts'
import type { NearestWanted, ReaderAnswer, ReaderAsk, ReaderRequest } from './reader.ts'

export interface ReadThread extends ListReader {
  /** The nearest vectors of a space, nearest first. */
  nearest(tenantId: string, wanted: NearestWanted, signal?: AbortSignal): Promise<Neighbour[]>
  close(): Promise<void>
}

/** Statements that the thread has at a time: with a second one it never waits for the next. */
const STATEMENTS_AT_ONCE = 2

export interface ReadThreadOptions {
  /** Whether a turn waits for it; else it has what processor time turns leave. Default true. */
  readonly isUrgent?: boolean
  /** Called with the error of every read that fails. */
  readonly onError?: (error: unknown) => void
}

/**
 * Tenants take turns statement by statement, so that one with a thousand searches delays another by
 * two statements at most. The first search starts the thread; after a failed start or a death of
 * the thread the next search starts it again. `readerUrl` is the address of `reader.ts`.
 */
export function createReadThread(
  file: DatabaseFile,
  readerUrl: string,
  { isUrgent = true, onError = () => {} }: ReadThreadOptions = {},
): ReadThread {
  const turns = createSemaphore({ slots: STATEMENTS_AT_ONCE })
  const thread = createRestartingThread(
    () => startReader(readerUrl),
    ({ ask }) => ask({ type: 'open', file, isUrgent }),
  )
  let closed = false

  async function read(work: ReaderAsk): Promise<readonly unknown[]> {
    try {
      if (closed) throw new Error('the database is closed')
      return await (await thread.get()).ask(work)
    } catch (error) {
      onError(error)
      throw error
    }
  }

  return {
    isSideBySide: false,
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
      const last = await thread.current()
      if (!last) return
      await last.ask({ type: 'close' }).finally(last.end)
    },
  }
}

/** One thread; it may have many questions at a time. */
function startReader(url: string) {
  const thread = startThread<ReaderRequest, ReaderAnswer>({
    url,
    keyOf: ({ id }) => id,
    ended: (reason) => new Error(`the reader stopped: ${reason}`),
  })
  let lastId = 0
  return {
    ...thread,
    async ask(work: ReaderAsk): Promise<readonly unknown[]> {
      const answer = await thread.ask({ id: ++lastId, ...work })
      if ('fault' in answer) throw errorOf(answer.fault)
      return answer.rows
    },
  }
}
