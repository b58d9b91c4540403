/** What a text is to a model that tells questions from what is searched. */
export type EmbedKind = 'query' | 'passage'

/** The port to a text-embedding model: local ONNX, or a remote OpenAI-compatible endpoint. */
export interface Embedder {
  /** Names the vector space: vectors of different ids must never be compared. */
  readonly id: string
  /** The model as callers may know it, without the address of its endpoint. */
  readonly name?: string
  /**
   * A text of more UTF-16 units is longer than the model's window: parts of it may be embedded
   * apart and their vectors joined, which lets other work pass in between.
   */
  readonly lengthMax?: number
  /** Calls that it works on at the same time, where more would only wait inside it. */
  readonly atOnce?: Readonly<Record<EmbedKind, number>>
  /**
   * Unit vectors, one a text, in order, all of the same length. `kind` selects the model's prefix.
   * Throws `ChannelFailure` when the model cannot be reached or answers nonsense; throws the
   * signal's reason when aborted. `countTokens` is told of the tokens of the texts, in one call or
   * several, as the model counts them, or estimated where it does not tell.
   */
  embed(
    texts: readonly string[],
    kind: EmbedKind,
    signal?: AbortSignal,
    countTokens?: (tokens: number) => void,
  ): Promise<Float32Array[]>
  /**
   * Turns a cosine of this model into the score that people see, where 0.45 is relevant. It rises
   * with the cosine. A model without it has scores that are cosines.
   */
  score?(cosine: number, question: string, text: string): number
  /**
   * How well each text holds the words of the question, by their meaning, from 0 to 1; of models
   * whose vector of a single word tells what the word means. Throws as `embed`.
   */
  wordSimilarities?(
    question: string,
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly number[]>
  close(): Promise<void>
}

/** The port to a model that reads question and passage together: it judges better than vectors. */
export interface Reranker {
  /**
   * The places of the texts, the best first; texts that the model leaves out are missing. Throws
   * `ChannelFailure`; throws the signal's reason when aborted.
   */
  rank(question: string, texts: readonly string[], signal?: AbortSignal): Promise<readonly number[]>
}
