import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Embedder } from '../ports/embedder.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { createJobQueue, type Job } from './job-queue.ts'
import {
  type EmbedProcess,
  type ProcessCommand,
  ProcessLost,
  startEmbedProcess,
} from './process.ts'

export interface OnnxOptions {
  /** `EmbeddingModel.id` of the folder that `command` loads. */
  readonly id: string
  readonly command: ProcessCommand
  readonly clock: Clock
  readonly log: Logger
}

/** After this long without work the process is stopped, and its memory given back. */
const IDLE_MS = 10 * 60_000
/** Passages of one message: a query waits for that many at most. */
const SLICE_TEXTS = 8

/**
 * Embeds with a model folder in a child process: started on first use, replaced when it dies,
 * stopped when idle. Queries overtake passages, and documents that are indexed at the same time
 * take turns slice by slice.
 */
export function createOnnxEmbedder(options: OnnxOptions): Embedder {
  const { id, clock, log } = options
  const worker = createWorker(options)
  const jobs = createJobQueue(() => void pump())
  let busy = false
  let stopIdle = () => {}

  /** A process that dies takes one request with it at most twice. */
  async function serveTwice(job: Job): Promise<Float32Array[]> {
    try {
      return await worker.serve(job)
    } catch (error) {
      if (!(error instanceof ProcessLost) || worker.closed()) throw error
      log.warn('embedding process restarts', errorFields(error))
      return await worker.serve(job)
    }
  }

  async function pump() {
    if (busy) return
    busy = true
    stopIdle()
    for (let job = jobs.next(); job; job = jobs.next()) {
      try {
        job.resolve(await serveTwice(job))
      } catch (error) {
        log.error('embedding failed', errorFields(error))
        job.reject(new ChannelFailure('channel_unavailable', 'embedding failed', { cause: error }))
      }
    }
    busy = false
    if (!worker.closed()) stopIdle = clock.after(IDLE_MS, worker.stop)
  }

  return {
    id,
    async embed(texts, kind, signal) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += SLICE_TEXTS) {
        if (worker.closed()) {
          throw new ChannelFailure('channel_unavailable', 'embedding is shut down')
        }
        vectors.push(...(await jobs.add(kind, texts.slice(from, from + SLICE_TEXTS), signal)))
      }
      return vectors
    },
    async close() {
      await worker.close()
      stopIdle()
    },
  }
}

/** The process in use, started when there is none. */
function createWorker({ command, clock }: OnnxOptions) {
  let running: Promise<EmbedProcess> | null = null
  let current: EmbedProcess | null = null
  let closed = false

  function start(): Promise<EmbedProcess> {
    const fresh = startEmbedProcess(command, clock, () => {
      if (running === fresh) running = current = null
    })
    fresh.then(
      (process) => {
        if (closed) process.kill()
        else current = process
      },
      () => {
        if (running === fresh) running = null
      },
    )
    return fresh
  }

  const stop = () => current?.kill()

  return {
    async serve({ kind, texts }: Job): Promise<Float32Array[]> {
      running ??= start()
      const process = await running
      return split(await process.ask(kind, texts), texts.length)
    },
    /** Gives its memory back; the next job starts another one. */
    stop,
    closed: () => closed,
    async close(): Promise<void> {
      closed = true
      stop()
      await running?.catch(() => null)
    },
  }
}

function split(values: Float32Array, count: number): Float32Array[] {
  const dimensions = values.length / count
  return Array.from({ length: count }, (_, row) =>
    values.subarray(row * dimensions, (row + 1) * dimensions),
  )
}
