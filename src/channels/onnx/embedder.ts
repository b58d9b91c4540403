import { orAborted } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { type ChildCommand, ChildLost } from '../child/child-process.ts'
import { createSupervisor } from '../child/supervisor.ts'
import type { Embedder, EmbedKind } from '../ports/embedder.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { EmbeddingModel } from './model-folder.ts'
import { scoreScale } from './score-scale.ts'
import type { EmbedAnswer, EmbedRequest } from './worker.ts'

export interface OnnxOptions {
  /** The folder that `command` loads. */
  readonly model: Pick<EmbeddingModel, 'id' | 'relevantCosine' | 'relevantAcross'>
  readonly command: ChildCommand
  readonly clock: Clock
  readonly log: Logger
}

/** The process ends after this time without work. */
const IDLE_MS = 10 * 60_000
/** The longest that one message may take. */
const ANSWER_MS_MAX = 60_000
/** Texts of one message: a query waits for that many at most. More at a time are no faster. */
const SLICE_TEXTS = 2
/** The process does one job at a time; a second query waits for it, so that it is never idle. */
const AT_ONCE = { query: 2, passage: 1 }

/**
 * Embeds with a model folder in a child process, slice by slice. Queries and passages take turns
 * there, so a query waits for one slice of passages at most.
 */
export function createOnnxEmbedder({ model, command, clock, log }: OnnxOptions): Embedder {
  const supervisor = createSupervisor<EmbedRequest, EmbedAnswer>({
    command,
    clock,
    idleMs: IDLE_MS,
  })
  const process = createSemaphore({ slots: 1 })

  async function ask(kind: EmbedKind, texts: readonly string[]): Promise<Float32Array[]> {
    const child = await supervisor.acquire()
    const cancel = clock.after(ANSWER_MS_MAX, child.kill)
    try {
      child.send({ type: 'embed', kind, texts })
      const answer = await child.answer()
      if (answer.type === 'vectors') return split(answer.values, texts.length)
      throw new Error(answer.message)
    } finally {
      cancel()
      supervisor.release()
    }
  }

  /** Two attempts: a process that dies may have been ended by the system for its memory. */
  async function askTwice(kind: EmbedKind, texts: readonly string[]): Promise<Float32Array[]> {
    try {
      return await ask(kind, texts)
    } catch (error) {
      if (!(error instanceof ChildLost) || supervisor.isClosed()) throw error
      log.warn('embedding process restarts', errorFields(error))
      return await ask(kind, texts)
    }
  }

  async function embedSlice(kind: EmbedKind, texts: readonly string[], signal?: AbortSignal) {
    const vectors = process.run(kind, () => askTwice(kind, texts), signal)
    try {
      return await (signal ? orAborted(vectors, signal) : vectors)
    } catch (error) {
      signal?.throwIfAborted()
      log.error('embedding failed', errorFields(error))
      throw new ChannelFailure('channel_unavailable', 'embedding failed', { cause: error })
    }
  }

  return {
    id: model.id,
    atOnce: AT_ONCE,
    score: scoreScale(model.relevantCosine, model.relevantAcross),
    async embed(texts, kind, signal) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += SLICE_TEXTS) {
        if (supervisor.isClosed()) {
          throw new ChannelFailure('channel_unavailable', 'embedding is shut down')
        }
        const slice = texts.slice(from, from + SLICE_TEXTS)
        vectors.push(...(await embedSlice(kind, slice, signal)))
      }
      return vectors
    },
    close: supervisor.close,
  }
}

function split(values: Float32Array, count: number): Float32Array[] {
  const dimensions = values.length / count
  return Array.from({ length: count }, (_, row) =>
    values.subarray(row * dimensions, (row + 1) * dimensions),
  )
}
