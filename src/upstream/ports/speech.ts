export interface SpeechRequest {
  /** One piece of text, already under the adapter's `textCharsMax`. */
  readonly text: string
  /** A voice id of the caller; adapters map known aliases and pass unknown ids through. */
  readonly voice: string
  /** How fast, 1 is usual; adapters that cannot change it speak at their usual pace. */
  readonly speed?: number
  /** The tenant that asks: tenants take turns at this machine's programs. */
  readonly tenantId: string
}

/** The voice of a request that names none: a voice id of MiniMax. */
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
   * before that for a refused, unreachable or unconfigured upstream. A reader that stops early
   * aborts the signal.
   */
  speak(request: SpeechRequest, signal: AbortSignal): Promise<PcmStream>
}

export interface AudioClip {
  /** The upload as it came: wav, mp3, flac, ogg, webm, m4a. */
  readonly bytes: Uint8Array
  /** The tenant that asks: tenants take turns at this machine's recogniser and decoders. */
  readonly tenantId: string
}

/** What a caller knows of a recording and wants to know; engines use what they can. */
export interface AsrHints {
  /** The language that is spoken, such as `en`. */
  readonly language?: string
  /** Text in the style of the recording. */
  readonly prompt?: string
  readonly temperature?: number
  /** Which times the caller wants. */
  readonly times?: 'segments' | 'words'
}

/** A part of a recording, in seconds from its beginning. */
export interface TimedText {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The result of a recognition; which optional fields it has depends on the engine. */
export interface Transcript {
  /** Untrimmed; empty for silence. */
  readonly text: string
  readonly segments?: readonly TimedText[]
  readonly words?: readonly TimedText[]
  readonly language?: string
  /** Length of the recording, in seconds. */
  readonly duration?: number
}

/** The port to speech recognition. */
export interface Asr {
  readonly name: string
  /** Whether it can give the times of words. */
  readonly tellsWords?: boolean
  /** Without hints the language is Chinese, with punctuation guidance. Throws `ChannelFailure`. */
  transcribe(clip: AudioClip, signal: AbortSignal, hints?: AsrHints): Promise<Transcript>
}

/** The port to voice activity detection: a model that distinguishes voices from noise. */
export interface Vad {
  /** Begins to listen to one stream of sound. */
  open(): VadStream
}

export interface VadStream {
  /**
   * Adds samples, 16 kHz mono. Resolves, in the order of the calls, with the probability of speech
   * in each window of the model; with null when the model fails. Returns null while the model is
   * not loaded.
   */
  push(samples: Int16Array): Promise<readonly number[] | null> | null
  /** Forgets all samples so far. */
  reset(): void
  /** Must be called once. */
  close(): void
}

/** Samples a second of all sound the product sends. */
export const SPEECH_RATE = 32_000
/** The same for clients of OpenAI's API. */
export const OPENAI_SPEECH_RATE = 24_000
/** Samples a second that speech recognisers take. */
export const RECOGNISER_RATE = 16_000

/** In a silent recording no 20 ms reach this root mean square: 50 dB below full scale. */
export const SILENCE_RMS = 0.003

/** The format of an upload by its first bytes; upstreams need the `extension`. */
export interface AudioKind {
  readonly name: 'wav' | 'mp3' | 'flac' | 'opus' | 'vorbis' | 'ogg' | 'webm' | 'm4a' | 'aac' | 'amr'
  readonly extension: string
  readonly mime: string
}

/**
 * All are mono. `pcm`: signed 16-bit little-endian samples. `wav`: the same after a header that
 * states no length. `mp3`: 128 kbps at 32 kHz. `opus`: Ogg Opus at 24 kHz. `packets`: Opus packets
 * of 60 ms at 24 kHz, each after its length in two bytes, big-endian.
 */
export type SpeechFormat = 'pcm' | 'wav' | 'mp3' | 'opus' | 'packets'

/** Encodes one speech outside the server's thread. */
export interface SpeechEncoder {
  /** Takes signed 16-bit little-endian mono bytes at `rate`; a chunk may split a sample. */
  encode(pcm: Uint8Array, rate: number): AsyncIterable<Uint8Array>
  /** The rest of the output that the filter and the encoder still hold. */
  finish(): AsyncIterable<Uint8Array>
  /** Must be called once, finished or not. */
  close(): void
}

/** Decodes a stream of Opus packets to 16 kHz mono. */
export interface PacketDecoder {
  /** The samples of a packet, at most 120 ms; null for bytes that are no packet. */
  decode(packet: Uint8Array): Int16Array | null
  /** Must be called once. */
  release(): void
}

/** The answer of a synthesis upstream that was asked for PCM. */
export interface SpeechBody {
  readonly body: AsyncIterable<Uint8Array>
  readonly contentType: string
  /** Samples a second of raw samples whose content type states none. */
  readonly fallbackRate: number
  readonly tenantId: string
}

/** The port to audio codecs. */
export interface AudioCodecs {
  sniff(bytes: Uint8Array): AudioKind | null
  /** Whether a recogniser can be asked about these bytes. */
  isRecording(bytes: Uint8Array): boolean
  /** `rate`: samples a second of the output. */
  speechEncoder(format: SpeechFormat, rate: number): SpeechEncoder
  /**
   * Mono PCM at `rate`. Throws `ChannelFailure` for bytes that cannot be read and `AppError` 413
   * for a recording over the duration limit, also in mid-stream.
   */
  decode(clip: AudioClip, rate: number, signal: AbortSignal): AsyncGenerator<Uint8Array>
  /** Seconds of a recording by its container; 0 when unknown. */
  duration(clip: AudioClip, signal: AbortSignal): Promise<number>
  /**
   * Decodes speech of an upstream. The rate is that of the content type or of a wav header, else
   * `fallbackRate`. Resolves with the first bytes; throws `ChannelFailure` for anything that is not
   * sound.
   */
  readSpeech(speech: SpeechBody, signal: AbortSignal): Promise<PcmStream>
  /** Mono samples as a wav file. */
  wav(samples: Int16Array, rate: number): Uint8Array
  packetDecoder(): Promise<PacketDecoder>
  /**
   * Whether the recording is silent; null for compressed audio, where that is not cheap to tell.
   */
  isSilent(bytes: Uint8Array): Promise<boolean | null>
}
