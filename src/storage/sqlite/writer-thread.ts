import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DiskFault } from '../../core/errors.ts'
import type { Statement } from '../db.ts'
import { type DatabaseFile, errorOf } from './connection.ts'
import type { BatchResult, WriterAnswer, WriterRequest } from './writer.ts'

export interface WriterThread {
  /** Writes the batches with one flush. Rejects with `DiskFault` when the thread dies meanwhile. */
  write(batches: readonly (readonly Statement[])[]): Promise<readonly BatchResult[]>
  /** Empties the write-ahead log, and rewrites a small file; false when a reader holds the log. */
  tidy(compact: boolean): Promise<boolean>
  /** Whether a thread takes writes. After a death, this call or the next write starts a new one. */
  runs(): boolean
  close(): Promise<void>
}

type Thread = ReturnType<typeof startThread>

/**
 * The thread that runs `writer.ts`. When it dies, its open request fails at once and the next
 * request starts another thread; SQLite recovers the log as after a crash, so every acknowledged
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
    async tidy(compact) {
      const answer = await (await thread()).ask({ type: 'tidy', compact })
      return answer.type === 'tidied' && answer.done
    },
    runs() {
      // A failed start shows in the next write.
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

interface Waiting {
  readonly batch: readonly Statement[]
}

/** A group larger than this would make the first of its writers wait for the last. */
const GROUP_BATCHES_MAX = 256
/** A batch of this size takes milliseconds to write; a large document has a megabyte of terms. */
const LARGE_BYTES = 64 * 1024

/**
 * Batches that wait for the writer thread. Small ones are written together and in order. Each large
 * one is written alone, and waiting small ones go between two large ones. So a turn waits for one
 * document of another tenant and not for all that were sent at once.
 */
export function createWriteQueue<Item extends Waiting>() {
  const small: Item[] = []
  const large: Item[] = []
  let afterLarge = true

  return {
    add(item: Item): void {
      if (isLarge(item.batch)) large.push(item)
      else small.push(item)
    },
    /** The batches to be written next with one flush; empty when none waits. */
    next(): Item[] {
      const one = small.length === 0 || !afterLarge ? large.shift() : undefined
      afterLarge = one !== undefined
      return one ? [one] : small.splice(0, GROUP_BATCHES_MAX)
    },
  }
}

function isLarge(batch: readonly Statement[]): boolean {
  let bytes = 0
  for (const { args } of batch) {
    for (const arg of args) {
      if (typeof arg === 'string') bytes += arg.length
      else if (arg instanceof Uint8Array) bytes += arg.length
    }
  }
  return bytes > LARGE_BYTES
}

export type DiskTrouble = DiskFault['trouble']

/** With this much free space the disk counts as usable again. */
const FREE_BYTES_MIN = 1024 * 1024

/** Damage stays, and a successful write to another page proves nothing about it. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/

/**
 * Remembers how the last write to the file at `path` failed. Without traffic no later write would
 * clear that, so `trouble` checks the free space, or calls `probeWrite`, a write that stores
 * nothing. Damage is remembered until the process ends.
 */
export function createDiskHealth(path: string, probeWrite: () => Promise<unknown>) {
  let last: DiskTrouble | null = null
  let damaged = false

  return {
    failed(error: unknown): void {
      if (!(error instanceof DiskFault)) return
      last = error.trouble
      damaged ||= DAMAGED.test(error.code)
    },
    written(): void {
      last = null
    },
    async trouble(): Promise<DiskTrouble | null> {
      if (damaged) return 'disk_error'
      if (last === 'disk_error') await probeWrite().catch(() => {})
      if (last === 'disk_full' && freeBytes(dirname(path)) >= FREE_BYTES_MIN) last = null
      return last
    },
  }
}

export type DiskHealth = ReturnType<typeof createDiskHealth>

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
