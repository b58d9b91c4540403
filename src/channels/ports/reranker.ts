/** The port to a model that reads question and passage together: it judges better than vectors. */
export interface Reranker {
  /**
   * The places of the texts, the best first; texts that the model leaves out are missing. Throws
   * `ChannelFailure`; throws the signal's reason when aborted.
   */
  rank(question: string, texts: readonly string[], signal?: AbortSignal): Promise<readonly number[]>
}
