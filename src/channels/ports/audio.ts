import type { AudioClip } from './asr.ts'
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

/** mp3 of 128 kbps, or signed 16-bit little-endian samples; both 32 kHz mono. */
export type SpeechFormat = 'pcm' | 'mp3'

/** Encodes one speech outside the server's thread. */
export interface SpeechEncoder {
  /** Takes signed 16-bit little-endian mono bytes at `rate`; a chunk may split a sample. */
  encode(pcm: Uint8Array, rate: number): AsyncIterable<Uint8Array>
  /** What the filter and the encoder still hold. */
  finish(): AsyncIterable<Uint8Array>
  /** Must be called once, finished or not. */
  close(): void
}

/** What a synthesis upstream answered when PCM was asked for. */
export interface SpeechBody {
  readonly body: AsyncIterable<Uint8Array>
  readonly contentType: string
  /** Samples a second of raw samples whose type does not tell. */
  readonly fallbackRate: number
  readonly tenantId: string
}

/** The port to codecs: everything about sound that needs arithmetic or a library. */
export interface AudioCodecs {
  sniff(bytes: Uint8Array): AudioKind | null
  speechEncoder(format: SpeechFormat): SpeechEncoder
  /**
   * Mono PCM at `rate`. Throws `ChannelFailure` for bytes that cannot be read and `AppError` 413
   * for a recording over the duration limit, also in mid-stream.
   */
  decode(clip: AudioClip, rate: number, signal: AbortSignal): AsyncGenerator<Uint8Array>
  /**
   * Reads speech. The rate is the one in the content type, that of a wav header if a wav came back,
   * else `fallbackRate`. Resolves with the first bytes; throws `ChannelFailure` for anything that
   * is not sound.
   */
  readSpeech(speech: SpeechBody, signal: AbortSignal): Promise<PcmStream>
  /** Whether nobody can be heard; null when that is not cheap to tell (compressed audio). */
  isSilent(bytes: Uint8Array): Promise<boolean | null>
}
