import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Embedder, EmbedKind } from '../embedder.ts'
import { ChannelFailure } from '../failure.ts'
import {
  type EmbedProcess,
  type ProcessCommand,
  ProcessLost,
  startEmbedProcess,
} from './process.ts'

interface Job {
  readonly kind: EmbedKind
  readonly texts: readonly string[]
  readonly resolve: (vectors: Float32Array[]) => void
  readonly reject: (error: unknown) => void
}

export interface OnnxOptions {
  /** `EmbeddingModel.id` of the folder that `command` loads. */
  readonly id: string
  readonly command: ProcessCommand
  readonly clock: Clock
  readonly log: Logger
  /** The process is stopped, and its memory given back, after this long without work. */
  readonly idleMs?: number
}

const IDLE_MS = 10 * 60_000
/** Passages of one message: a query waits for that many at most. */
const SLICE_TEXTS = 8

/**
 * Embeds with a model folder in a child process: started on first use, replaced when it dies,
 * stopped when idle. Queries overtake passages, and documents that are indexed at the same time take
 * turns slice by slice.
 */
export function createOnnxEmbedder(options: OnnxOptions): Embedder {
  const { id, command, clock, log, idleMs = IDLE_MS } = options
  const queues: Record<EmbedKind, Job[]> = { query: [], passage: [] }
  let running: Promise<EmbedProcess> | null = null
  let current: EmbedProcess | null = null
  let busy = false
  let closed = false
  let stopIdle = () => {}

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

  async function serve(job: Job): Promise<Float32Array[]> {
    running ??= start()
    const process = await running
    return split(await process.ask(job.kind, job.texts), job.texts.length)
  }

  /** A process that dies takes one request with it at most twice. */
  async function serveTwice(job: Job): Promise<Float32Array[]> {
    try {
      return await serve(job)
    } catch (error) {
      if (!(error instanceof ProcessLost) || closed) throw error
      log.warn('embed.restart', errorFields(error))
      return await serve(job)
    }
  }

  async function pump() {
    if (busy) return
    busy = true
    stopIdle()
    for (let job = next(); job; job = next()) {
      try {
        job.resolve(await serveTwice(job))
      } catch (error) {
        log.error('embed.failed', errorFields(error))
        job.reject(new ChannelFailure('channel_unavailable', 'embedding failed', { cause: error }))
      }
    }
    busy = false
    if (!closed) stopIdle = clock.after(idleMs, () => current?.kill())
  }

  const next = () => queues.query.shift() ?? queues.passage.shift()

  function submit(kind: EmbedKind, texts: readonly string[], signal?: AbortSignal) {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>()
    const job: Job = { kind, texts, resolve, reject }
    const queue = queues[kind]
    const onAbort = () => {
      const at = queue.indexOf(job)
      if (at >= 0) queue.splice(at, 1)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    queue.push(job)
    void pump()
    return promise.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  return {
    id,
    async embed(texts, kind, signal) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += SLICE_TEXTS) {
        if (closed) throw new ChannelFailure('channel_unavailable', 'embedding is shut down')
        vectors.push(...(await submit(kind, texts.slice(from, from + SLICE_TEXTS), signal)))
      }
      return vectors
    },
    async close() {
      closed = true
      current?.kill()
      await running?.catch(() => null)
      stopIdle()
    },
  }
}

function split(values: Float32Array, count: number): Float32Array[] {
  const dimensions = values.length / count
  return Array.from({ length: count }, (_, row) =>
    values.subarray(row * dimensions, (row + 1) * dimensions),
  )
}
