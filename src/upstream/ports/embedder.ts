/** Whether a text is a question or is searched; some models treat the two differently. */
export type EmbedKind = 'query' | 'passage'

/** The port to a text-embedding model: local ONNX, or a remote OpenAI-compatible endpoint. */
export interface Embedder {
  /** Identifies the vector space: vectors of different ids must never be compared. */
  readonly id: string
  /**
   * The `id` of a model that its endpoint names, which may name another one later; rejects as
   * `embed`. Without this method `id` holds.
   */
  identify?(signal?: AbortSignal): Promise<string>
  /** The model as callers may know it, without the address of its endpoint. */
  readonly name?: string
  /**
   * A text of more UTF-16 units is longer than the model's window. Its parts may be embedded one by
   * one and their vectors joined, so that other work runs in between.
   */
  readonly lengthMax?: number
  /** Simultaneous calls that it can work on; more would only wait inside it. */
  readonly atOnce?: Readonly<Record<EmbedKind, number>>
  /**
   * Unit vectors, one a text, in order, all of the same length. `kind` selects the model's prefix.
   * Throws `ChannelFailure` when the model cannot be reached or its answer is invalid; throws the
   * signal's reason when aborted. Calls `countTokens`, once or several times, with the tokens of
   * the texts as the model counts them, or estimated where it reports none.
   */
  embed(
    texts: readonly string[],
    kind: EmbedKind,
    signal?: AbortSignal,
    countTokens?: (tokens: number) => void,
  ): Promise<Float32Array[]>
  /**
   * Turns a cosine of this model into the score that people see, where 0.45 is relevant. It rises
   * with the cosine. Without this method the cosine is the score.
   */
  score?(cosine: number, question: string, text: string): number
  /**
   * For each text, how well it matches the words of the question by meaning. The first line of a
   * text is its title. Only models whose vector of a single word represents its meaning have this
   * method. Throws as `embed`.
   */
  wordSimilarities?(
    question: string,
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly WordSimilarity[]>
  close(): Promise<void>
}

/** How well a text matches the words of a question, from 0 to 1. */
export interface WordSimilarity {
  /** With any of its words. */
  readonly whole: number
  /** How much of the question it says in the words of another language; 0 in the same one. */
  readonly translated: number
  /** Where its best sentence is, in UTF-16 units; null for a text without words. */
  readonly at: { readonly from: number; readonly to: number } | null
}

/**
 * The port to a model that reads question and passage together, and so ranks better than vectors.
 */
export interface Reranker {
  /**
   * The indexes of the texts, the best first; texts that the model leaves out are missing. Throws
   * `ChannelFailure`; throws the signal's reason when aborted.
   */
  rank(question: string, texts: readonly string[], signal?: AbortSignal): Promise<readonly number[]>
}
