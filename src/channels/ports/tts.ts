export interface SpeechRequest {
  /** One piece of text, already under the adapter's `textCharsMax`. */
  readonly text: string
  /** A voice id of the caller; adapters map known aliases and pass unknown ids through. */
  readonly voice: string
  /** Whose it is: tenants get this machine's programs in turn. */
  readonly tenantId: string
}

/** The voice of a request that names none (specification, TtsRequest): a voice id of MiniMax. */
export const DEFAULT_VOICE = 'female-shaonv'

export interface PcmStream {
  /** Samples a second; the chunks are signed 16-bit little-endian mono. */
  readonly rate: number
  /** Chunks may split a sample. Iteration throws `ChannelFailure` when the upstream breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The port to speech synthesis. Adapters always deliver PCM; encoding and resampling are ours. */
export interface Tts {
  readonly name: string
  /** Longest text one call takes, in code points. */
  readonly textCharsMax: number
  /**
   * Resolves when the upstream has accepted the text and the rate is known. Throws `ChannelFailure`
   * before that for a refused, unreachable or unconfigured upstream. What is not read to its end is
   * given up by aborting the signal.
   */
  speak(request: SpeechRequest, signal: AbortSignal): Promise<PcmStream>
}
