import { KB_QUERY_CHARS_MAX } from './limits/machine.ts'
import { firstChars } from './text.ts'

/** What makes the vector of a question. */
interface QuestionEmbedder {
  embedForSearch(
    tenantId: string,
    texts: readonly string[],
    kind: 'query',
    signal?: AbortSignal,
  ): Promise<Float32Array[]>
}

/** What is compared with stored texts. */
export interface Question {
  readonly text: string
  /** The vector of the text, made when it is first asked for and once by each embedder. */
  vector(embedder: QuestionEmbedder): Promise<Float32Array | undefined>
}

/**
 * A question that several parts of a turn search with. Text beyond the limit of a search is not
 * compared. Its vectors reject as `embedForSearch` does, and when `signal` aborts.
 */
export function createQuestion(tenantId: string, asked: string, signal?: AbortSignal): Question {
  const text = firstChars(asked, KB_QUERY_CHARS_MAX)
  const made = new Map<QuestionEmbedder, Promise<Float32Array | undefined>>()
  return {
    text,
    vector(embedder) {
      const known = made.get(embedder)
      if (known) return known
      const vector = embedder
        .embedForSearch(tenantId, [text], 'query', signal)
        .then(([first]) => first)
      made.set(embedder, vector)
      return vector
    },
  }
}
