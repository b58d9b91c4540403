import { orAborted } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { groupTexts } from '../../core/text.ts'
import { type ChildCommand, ChildLost } from '../../upstream/child/child-process.ts'
import { createSupervisor } from '../../upstream/child/supervisor.ts'
import type { Embedder, EmbedKind, WordSimilarity } from '../../upstream/ports/embedder.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { EmbeddingModel } from './model-folder.ts'
import { scoreScale } from './score-scale.ts'
import type { EmbedAnswer, EmbedRequest } from './worker.ts'

export interface OnnxOptions {
  /** The folder that `command` loads. */
  readonly model: Pick<
    EmbeddingModel,
    'id' | 'name' | 'tokensMax' | 'relevantCosine' | 'relevantAcross' | 'wordVectors'
  >
  readonly command: ChildCommand
  readonly clock: Clock
  readonly log: Logger
}

/** The process ends after this time without work. */
const IDLE_MS = 10 * 60_000
/** The longest that one message may take. */
const ANSWER_MS_MAX = 60_000
/** Texts of one message at most. A query waits for one message of passages. */
const SLICE_TEXTS = 32
const SLICE_UNITS_MAX = 1_600
/**
 * A text of more UTF-16 units than this for each token of the model's window is longer than the
 * window, unless most of it is blank.
 */
const UNITS_PER_TOKEN_MAX = 8
/** The process does one job at a time; a second query is ready for it. */
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

  async function ask(request: EmbedRequest): Promise<EmbedAnswer> {
    const child = await supervisor.acquire()
    const cancel = clock.after(ANSWER_MS_MAX, child.kill)
    try {
      child.send(request)
      const answer = await child.answer()
      if (answer.type === 'error') throw new Error(answer.message)
      return answer
    } finally {
      cancel()
      supervisor.release()
    }
  }

  /** Two attempts: a process that dies may have been ended by the system for its memory. */
  async function askTwice(request: EmbedRequest): Promise<EmbedAnswer> {
    try {
      return await ask(request)
    } catch (error) {
      if (!(error instanceof ChildLost) || supervisor.isClosed()) throw error
      log.warn('embedding process restarts', errorFields(error))
      return await ask(request)
    }
  }

  /** Waits in the queue of queries or of passages, then asks the process. */
  async function answerOf(line: EmbedKind, request: EmbedRequest, signal?: AbortSignal) {
    if (supervisor.isClosed()) {
      throw new ChannelFailure('channel_unavailable', 'embedding is shut down')
    }
    const answer = process.run(line, () => askTwice(request), signal)
    try {
      return await (signal ? orAborted(answer, signal) : answer)
    } catch (error) {
      signal?.throwIfAborted()
      log.error('embedding failed', errorFields(error))
      throw new ChannelFailure('channel_unavailable', 'embedding failed', { cause: error })
    }
  }

  async function wordSimilarities(
    question: string,
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly WordSimilarity[]> {
    const answer = await answerOf('query', { type: 'compare', question, texts }, signal)
    return answer.type === 'similarities' ? answer.values : []
  }

  return {
    id: model.id,
    name: model.name,
    lengthMax: model.tokensMax * UNITS_PER_TOKEN_MAX,
    atOnce: AT_ONCE,
    score: scoreScale(model.relevantCosine, model.relevantAcross),
    async embed(texts, kind, signal, countTokens) {
      const vectors: Float32Array[] = []
      for (const slice of groupTexts(texts, SLICE_TEXTS, SLICE_UNITS_MAX)) {
        const answer = await answerOf(kind, { type: 'embed', kind, texts: slice }, signal)
        if (answer.type !== 'vectors') continue
        countTokens?.(answer.tokens)
        vectors.push(...split(answer.values, slice.length))
      }
      return vectors
    },
    ...(model.wordVectors ? { wordSimilarities } : {}),
    close: supervisor.close,
  }
}

function split(values: Float32Array, count: number): Float32Array[] {
  const dimensions = values.length / count
  return Array.from({ length: count }, (_, row) =>
    values.subarray(row * dimensions, (row + 1) * dimensions),
  )
}
