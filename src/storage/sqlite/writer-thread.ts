import { DiskFault } from '../../core/errors.ts'
import type { Statement } from '../db.ts'
import type { DatabaseFile } from './connection.ts'
import { errorOf } from './fault.ts'
import type { BatchResult } from './group-commit.ts'
import type { WriterAnswer, WriterRequest } from './protocol.ts'

export interface WriterThread {
  /** Writes the batches with one flush. Rejects with `DiskFault` when the thread dies at it. */
  write(batches: readonly (readonly Statement[])[]): Promise<readonly BatchResult[]>
  /** Whether a thread takes writes. A dead one is started again by the next write or question. */
  runs(): boolean
  close(): Promise<void>
}

type Thread = ReturnType<typeof startThread>

/**
 * The writer thread of `writer.ts`. When it dies, what it was asked fails at once, and the next
 * request starts another one; SQLite recovers the log as after a crash, so every acknowledged
 * write is there. Resolves once the first thread has opened the file. One request at a time.
 */
export async function openWriterThread(
  file: DatabaseFile,
  writerUrl: string,
): Promise<WriterThread> {
  let current: Promise<Thread> | null = null
  let running = false
  let closed = false

  async function open(onDeath: () => void): Promise<Thread> {
    const thread = startThread(writerUrl, onDeath)
    try {
      await thread.ask({ type: 'open', file })
      running = true
      return thread
    } catch (error) {
      onDeath()
      thread.end()
      throw error
    }
  }

  function thread(): Promise<Thread> {
    if (current) return current
    const fresh = open(() => {
      if (current !== fresh) return
      current = null
      running = false
    })
    current = fresh
    return fresh
  }

  await thread()
  return {
    async write(batches) {
      const answer = await (await thread()).ask({ type: 'write', batches })
      if (answer.type !== 'written') throw new Error('unexpected answer of the writer thread')
      return answer.results
    },
    runs() {
      // A failure to start shows in the next answer.
      if (!running && !closed) thread().catch(() => {})
      return running
    },
    async close() {
      closed = true
      const last = await current?.catch(() => null)
      if (!last) return
      await last.ask({ type: 'close' }).finally(last.end)
    },
  }
}

/** One thread with at most one request open. `onDeath` is called before that request fails. */
function startThread(writerUrl: string, onDeath: () => void) {
  const worker = new Worker(writerUrl)
  let open: PromiseWithResolvers<WriterAnswer> | null = null

  worker.onmessage = ({ data }: MessageEvent<WriterAnswer>) => {
    if (data.type === 'failed') open?.reject(errorOf(data.fault))
    else open?.resolve(data)
  }
  const die = (reason: string) => {
    onDeath()
    worker.terminate()
    open?.reject(new DiskFault('disk_error', 'WRITER_STOPPED', `the writer stopped: ${reason}`))
  }
  worker.onerror = ({ message }) => die(lastWords(message))
  worker.addEventListener('close', () => die('its thread ended'))

  return {
    ask(request: WriterRequest): Promise<WriterAnswer> {
      open = Promise.withResolvers()
      worker.postMessage(request)
      return open.promise
    },
    end: () => worker.terminate(),
  }
}

/** Bun puts lines of source code around the error of a thread. */
const lastWords = (message: string) => /^\w*error: .*/im.exec(message)?.[0] ?? 'unknown error'
