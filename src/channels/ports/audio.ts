import type { PcmStream } from './tts.ts'

/** Samples a second of all sound the product sends (specification, Voice). */
export const SPEECH_RATE = 32_000
/** Samples a second that speech recognisers take. */
export const RECOGNISER_RATE = 16_000

/** Root mean square, of full scale, that no 20 ms of a silent recording reach: 50 dB below it. */
export const SILENCE_RMS = 0.003

/** What an upload is, by its first bytes; `extension` makes upstreams accept it. */
export interface AudioKind {
  readonly name: 'wav' | 'mp3' | 'flac' | 'opus' | 'vorbis' | 'ogg' | 'webm' | 'm4a' | 'aac' | 'amr'
  readonly extension: string
  readonly mime: string
}

/** Both ends are signed 16-bit little-endian mono bytes; a chunk may split a sample. */
export interface Resampler {
  push(pcm: Uint8Array): Uint8Array
  /** The samples still held back by the filter. The resampler is spent afterwards. */
  flush(): Uint8Array
}

/** 32 kHz mono signed 16-bit little-endian in, mp3 at a constant 128 kbps out. */
export interface Mp3Encoder {
  encode(pcm: Uint8Array): Uint8Array
  /** The last frames. */
  finish(): Uint8Array
  /** Lets another request use the encoder; to be called once, finished or not. */
  release(): void
}

/** The port to codecs: everything about sound that needs arithmetic or a library. */
export interface AudioCodecs {
  sniff(bytes: Uint8Array): AudioKind | null
  resampler(fromRate: number, toRate: number): Resampler
  mp3Encoder(): Promise<Mp3Encoder>
  /**
   * Mono PCM at `rate`, decoded as it is pulled. Throws `ChannelFailure` for bytes that cannot be
   * read and `AppError` 413 for a recording over the duration limit, also in mid-stream.
   */
  decode(bytes: Uint8Array, rate: number, signal: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Reads what a synthesis upstream answered when PCM was asked for. The rate is the one in the
   * content type, that of a wav header if a wav came back, else `fallbackRate`. Resolves with the
   * first bytes; throws `ChannelFailure` for anything that is no sound.
   */
  readSpeech(
    body: AsyncIterable<Uint8Array>,
    contentType: string,
    fallbackRate: number,
    signal: AbortSignal,
  ): Promise<PcmStream>
  /** Whether nobody can be heard; null when that is not cheap to tell (compressed audio). */
  isSilent(bytes: Uint8Array): boolean | null
}
