import type { Statement } from '../db.ts'
import type { DatabaseFile } from './connection.ts'
import type { ReaderAnswer, ReaderRequest } from './protocol.ts'

export interface ReadThread {
  /** As `Db.all`, off the event loop; for searches. */
  all<Row>(statement: Statement): Promise<Row[]>
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (rows: readonly unknown[]) => void
  readonly reject: (error: Error) => void
}

type Ask =
  | { readonly type: 'open'; readonly file: DatabaseFile }
  | { readonly type: 'read'; readonly statement: Statement }
  | { readonly type: 'close' }

/** `readerUrl` is where `reader.ts` lies, as `writerUrl` of `openSqlite`. */
export async function openReadThread(file: DatabaseFile, readerUrl: string): Promise<ReadThread> {
  const worker = new Worker(readerUrl)
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let closed = false

  worker.onmessage = ({ data }: MessageEvent<ReaderAnswer>) => {
    const asked = waiting.get(data.id)
    waiting.delete(data.id)
    if ('error' in data) asked?.reject(new Error(data.error))
    else asked?.resolve(data.rows)
  }
  worker.onerror = (event) => {
    for (const { reject } of waiting.values()) reject(new Error(event.message))
    waiting.clear()
  }

  function ask(message: Ask): Promise<readonly unknown[]> {
    if (closed) return Promise.reject(new Error('the database is closed'))
    const id = ++lastId
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      const request: ReaderRequest = { id, ...message }
      worker.postMessage(request)
    })
  }

  await ask({ type: 'open', file })
  return {
    all: async <Row>(statement: Statement) => (await ask({ type: 'read', statement })) as Row[],
    async close() {
      if (closed) return
      const done = ask({ type: 'close' })
      closed = true
      await done
      worker.terminate()
    },
  }
}
