export interface SpeechRequest {
  /** One piece of text, already under the adapter's `textCharsMax`. */
  readonly text: string
  /** A voice id of the caller; adapters map known aliases and pass unknown ids through. */
  readonly voice: string
  /** How fast, 1 is usual; adapters that cannot change it speak at their usual pace. */
  readonly speed?: number
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

export interface AudioClip {
  /** The upload as it came: wav, mp3, flac, ogg, webm, m4a. */
  readonly bytes: Uint8Array
  /** Whose it is: tenants get this machine's recogniser and decoders in turn. */
  readonly tenantId: string
}

/** What a caller tells of a recording and wants to know; engines use what they can. */
export interface AsrHints {
  /** Such as `en`. */
  readonly language?: string
  /** Text in the manner of what is said. */
  readonly prompt?: string
  readonly temperature?: number
  /** Times that are of use. */
  readonly times?: 'segments' | 'words'
}

/** A stretch of a recording, in seconds from its beginning. */
export interface TimedText {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** What was recognised, as far as the engine tells. */
export interface Transcript {
  /** Untrimmed; empty for silence. */
  readonly text: string
  readonly segments?: readonly TimedText[]
  readonly words?: readonly TimedText[]
  readonly language?: string
  /** Of the recording, in seconds. */
  readonly duration?: number
}

/** The port to speech recognition. */
export interface Asr {
  readonly name: string
  /** Whether it may tell the times of words. */
  readonly tellsWords?: boolean
  /** Without hints the language is Chinese, with punctuation guidance. Throws `ChannelFailure`. */
  transcribe(clip: AudioClip, signal: AbortSignal, hints?: AsrHints): Promise<Transcript>
}

/** The port to voice activity detection: a model that tells voices from noise. */
export interface Vad {
  /** Begins to listen to one stream of sound. */
  open(): VadStream
}

export interface VadStream {
  /**
   * The next samples, 16 kHz mono. Resolves, in the order of the calls, with how likely somebody
   * speaks in each part of the sound that the model looks at; with null when it cannot tell. Null
   * at once while the model is not loaded.
   */
  push(samples: Int16Array): Promise<readonly number[] | null> | null
  /** Forgets what was heard. */
  reset(): void
  /** Must be called once. */
  close(): void
}

/** Samples a second of all sound the product sends (specification, Voice). */
export const SPEECH_RATE = 32_000
/** The same of what clients of OpenAI's API get (contract 2, 1.8). */
export const OPENAI_SPEECH_RATE = 24_000
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

/**
 * Mono: signed 16-bit little-endian samples, the same behind a header of unknown length, mp3 of
 * 128 kbps, Ogg Opus, or Opus packets of 60 ms, each behind its length in two bytes, big-endian.
 * Mp3 is of 32 kHz and Opus of 24 kHz.
 */
export type SpeechFormat = 'pcm' | 'wav' | 'mp3' | 'opus' | 'packets'

/** Encodes one speech outside the server's thread. */
export interface SpeechEncoder {
  /** Takes signed 16-bit little-endian mono bytes at `rate`; a chunk may split a sample. */
  encode(pcm: Uint8Array, rate: number): AsyncIterable<Uint8Array>
  /** What the filter and the encoder still hold. */
  finish(): AsyncIterable<Uint8Array>
  /** Must be called once, finished or not. */
  close(): void
}

/** Reads a stream of Opus packets as 16 kHz mono. */
export interface PacketDecoder {
  /** Null for bytes that are no packet; at most 120 ms come out of one. */
  decode(packet: Uint8Array): Int16Array | null
  /** Must be called once. */
  release(): void
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
  /** `rate`: samples a second of what comes out. */
  speechEncoder(format: SpeechFormat, rate: number): SpeechEncoder
  /**
   * Mono PCM at `rate`. Throws `ChannelFailure` for bytes that cannot be read and `AppError` 413
   * for a recording over the duration limit, also in mid-stream.
   */
  decode(clip: AudioClip, rate: number, signal: AbortSignal): AsyncGenerator<Uint8Array>
  /** Seconds of a recording, by its container; 0 where that cannot be told. */
  duration(clip: AudioClip, signal: AbortSignal): Promise<number>
  /**
   * Reads speech. The rate is the one in the content type, that of a wav header if a wav came back,
   * else `fallbackRate`. Resolves with the first bytes; throws `ChannelFailure` for anything that
   * is not sound.
   */
  readSpeech(speech: SpeechBody, signal: AbortSignal): Promise<PcmStream>
  /** Mono samples as a wav file. */
  wav(samples: Int16Array, rate: number): Uint8Array
  packetDecoder(): Promise<PacketDecoder>
  /** Whether nobody can be heard; null when that is not cheap to tell (compressed audio). */
  isSilent(bytes: Uint8Array): Promise<boolean | null>
}
