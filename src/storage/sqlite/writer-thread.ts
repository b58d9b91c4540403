import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DiskFault } from '../../core/errors.ts'
import { createRestartingThread, startThread } from '../../core/thread.ts'
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

/**
 * The thread that runs `writer.ts`. When it dies, its open request fails at once and the next
 * request starts another thread; SQLite recovers the log as after a crash, so every acknowledged
 * write is there. Resolves once the first thread has opened the file. One request at a time.
 */
export async function openWriterThread(
  file: DatabaseFile,
  writerUrl: string,
): Promise<WriterThread> {
  const thread = createRestartingThread(
    () => startWriter(writerUrl),
    ({ ask }) => ask({ type: 'open', file }),
  )
  let closed = false

  await thread.get()
  return {
    async write(batches) {
      const answer = await (await thread.get()).ask({ type: 'write', batches })
      if (answer.type !== 'written') throw new Error('unexpected answer of the writer thread')
      return answer.results
    },
    async tidy(compact) {
      const answer = await (await thread.get()).ask({ type: 'tidy', compact })
      return answer.type === 'tidied' && answer.done
    },
    runs() {
      // A failed start shows in the next write.
      if (!thread.isReady() && !closed) thread.get().catch(() => {})
      return thread.isReady()
    },
    async close() {
      closed = true
      const last = await thread.current()
      if (!last) return
      await last.ask({ type: 'close' }).finally(last.end)
    },
  }
}

/** One thread with at most one request open. */
function startWriter(url: string) {
  const thread = startThread<WriterRequest, WriterAnswer>({
    url,
    ended: (reason) =>
      new DiskFault('disk_error', 'WRITER_STOPPED', `the writer stopped: ${reason}`),
  })
  return {
    ...thread,
    async ask(request: WriterRequest): Promise<WriterAnswer> {
      const answer = await thread.ask(request)
      if (answer.type === 'failed') throw errorOf(answer.fault)
      return answer
    },
  }
}

interface WaitingBatch {
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
export function createWriteQueue<Item extends WaitingBatch>() {
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
