import type { Statement } from '../db.ts'
import type { DatabaseFile } from './connection.ts'
import type { ReaderAnswer, ReaderAsk, ReaderRequest } from './protocol.ts'

export interface ReadThread {
  /** As `Db.all`, off the event loop; for searches. */
  all<Row>(statement: Statement): Promise<Row[]>
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (rows: readonly unknown[]) => void
  readonly reject: (error: Error) => void
}

/**
 * The thread starts with the first search, and anew with the next one when it could not open the
 * file or has died. `readerUrl` is where `reader.ts` lies, as `writerUrl` of `openSqlite`.
 */
export function createReadThread(file: DatabaseFile, readerUrl: string): ReadThread {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let closed = false

  function start(): Worker {
    const fresh = new Worker(readerUrl)
    fresh.onmessage = ({ data }: MessageEvent<ReaderAnswer>) => {
      const asked = waiting.get(data.id)
      waiting.delete(data.id)
      if ('error' in data) asked?.reject(new Error(data.error))
      else asked?.resolve(data.rows)
    }
    fresh.onerror = (event) => {
      opened = null
      for (const { reject } of waiting.values()) reject(new Error(event.message))
      waiting.clear()
    }
    return fresh
  }

  function ask(to: Worker, message: ReaderAsk): Promise<readonly unknown[]> {
    const id = ++lastId
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      const request: ReaderRequest = { id, ...message }
      to.postMessage(request)
    })
  }

  let opened: Promise<Worker> | null = null
  async function open(): Promise<Worker> {
    const worker = start()
    try {
      await ask(worker, { type: 'open', file })
      return worker
    } catch (error) {
      opened = null
      worker.terminate()
      throw error
    }
  }

  return {
    async all<Row>(statement: Statement): Promise<Row[]> {
      if (closed) throw new Error('the database is closed')
      opened ??= open()
      return (await ask(await opened, { type: 'read', statement })) as Row[]
    },
    async close() {
      if (closed) return
      closed = true
      const worker = await opened?.catch(() => null)
      if (!worker) return
      await ask(worker, { type: 'close' })
      worker.terminate()
    },
  }
}
