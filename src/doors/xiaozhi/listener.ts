import type { Clock } from '../../core/clock.ts'
import type { MemoryShare } from '../../core/memory-budget.ts'
import type { PacketDecoder } from '../../upstream/ports/speech.ts'
import type { ListenMode } from './messages.ts'
import type { SpeechDetector } from './speech-detector.ts'

const RATE = 16_000
const BYTES_PER_SAMPLE = 2
/** Silence that ends an utterance: in sound, or in time when a board sends no sound. */
const SILENCE_SAMPLES = 0.7 * RATE
const NO_PACKET_MS = 900
/** Sound that is kept from before the detected start of speech. */
const BEFORE_SAMPLES = RATE / 2
const UTTERANCE_SAMPLES_MAX = 60 * RATE
/** Shorter speech is taken for a noise. */
const SPOKEN_SAMPLES_MIN = 0.15 * RATE
/** Speech of this length interrupts an answer; shorter speech may be its echo. */
const BARGE_IN_SAMPLES = 0.3 * RATE
/** Packets that wait to be decoded; more are dropped, which only happens on a busy machine. */
const WAITING_MAX = 200

export interface ListenerOptions {
  readonly decoder: PacketDecoder
  readonly detector: SpeechDetector
  readonly clock: Pick<Clock, 'after'>
  /** Counts the memory of the sound that is kept. */
  readonly share: MemoryShare
  /** Does a piece of work when the event loop has time for it. */
  readonly inTurn: (work: () => void) => Promise<void>
  /** Called when somebody has spoken for `BARGE_IN_SAMPLES`. */
  readonly onSpeech: () => void
  /** Called at the end of the utterance: after silence, at the limit, or when memory runs out. */
  readonly onEnd: (samples: Int16Array) => void
}

/** Collects an utterance from a board, and finds its end when the board does not report it. */
export class Listener {
  #mode: ListenMode | null = null
  #parts: Int16Array[] = []
  #held = 0
  #isSpeech = false
  #spoken = 0
  #silent = 0
  #cancelTimer = () => {}
  /** Packets that are not yet decoded. */
  #waiting: Uint8Array[] = []
  #isDecoding = false
  /** The board has ended the utterance whose packets wait. */
  #isStopping = false

  constructor(private readonly options: ListenerOptions) {}

  begin(mode: ListenMode | null): void {
    this.#forgetWaiting()
    this.#clear()
    this.#mode = mode
  }

  /** Whether somebody speaks now, as far as the sound until now tells. */
  get hears(): boolean {
    return this.#mode === 'manual' || this.#isSpeech || this.#isStopping
  }

  /** A packet of Opus; one that cannot be read is dropped. */
  push(packet: Uint8Array): void {
    if (this.#mode === null || this.#isStopping || this.#waiting.length >= WAITING_MAX) return
    // A copy, because the buffer belongs to the message of the socket.
    this.#waiting.push(new Uint8Array(packet))
    if (!this.#isDecoding) void this.#decodeWaiting()
  }

  async #decodeWaiting(): Promise<void> {
    this.#isDecoding = true
    while (this.#waiting.length > 0) {
      await this.options.inTurn(() => {
        const packet = this.#waiting.shift()
        if (packet) this.#decode(packet)
      })
    }
    this.#isDecoding = false
    if (this.#isStopping) this.#stopNow()
  }

  #decode(packet: Uint8Array): void {
    if (this.#mode === null) return
    const samples = this.options.decoder.decode(packet)
    if (samples === null) return
    if (!this.#keep(samples) || this.#held >= UTTERANCE_SAMPLES_MAX) this.#end()
    else if (this.#mode !== 'manual') this.#follow(samples)
  }

  /** The board has ended the utterance. In manual mode an utterance without speech counts, too. */
  stop(): void {
    if (this.#isDecoding) this.#isStopping = true
    else this.#stopNow()
  }

  /** The board wants no answer to the utterance that it has ended. */
  abort(): void {
    if (this.#isStopping) this.begin(null)
  }

  #stopNow(): void {
    this.#isStopping = false
    if (this.#mode === null) return
    const isSaid = this.#mode === 'manual' || this.#isSpeech
    this.#mode = null
    if (isSaid) this.options.onEnd(this.#take())
    else this.#clear()
  }

  close(): void {
    this.#mode = null
    this.#forgetWaiting()
    this.#clear()
    this.options.share.close()
    this.options.decoder.release()
    this.options.detector.close()
  }

  #forgetWaiting(): void {
    this.#waiting = []
    this.#isStopping = false
  }

  #clear(): void {
    this.#cancelTimer()
    this.options.share.add(-this.#held * BYTES_PER_SAMPLE)
    this.#parts = []
    this.#held = 0
    this.#isSpeech = false
    this.#spoken = 0
    this.#silent = 0
    this.options.detector.reset()
  }

  /** False when memory has run out. */
  #keep(samples: Int16Array): boolean {
    try {
      this.options.share.add(samples.length * BYTES_PER_SAMPLE)
    } catch {
      return false
    }
    this.#parts.push(samples)
    this.#held += samples.length
    return true
  }

  #follow(samples: Int16Array): void {
    this.#cancelTimer()
    const { length } = samples
    this.options.detector.push(samples, (isSpeech) => this.#hear(length, isSpeech))
  }

  /** Called when sound of this length is known to be speech or not. */
  #hear(length: number, isSpeech: boolean): void {
    if (this.#mode === null) return
    this.#cancelTimer()
    if (isSpeech) this.#hearSpeech(length)
    else if (this.#isSpeech) this.#silent += length
    else this.#forgetOld()
    if (!this.#isSpeech) return
    if (this.#silent >= SILENCE_SAMPLES) this.#end()
    else this.#cancelTimer = this.options.clock.after(NO_PACKET_MS, () => this.#end())
  }

  #hearSpeech(length: number): void {
    const before = this.#spoken
    this.#isSpeech = true
    this.#silent = 0
    this.#spoken += length
    if (before < BARGE_IN_SAMPLES && this.#spoken >= BARGE_IN_SAMPLES) this.options.onSpeech()
  }

  /** Drops old sound while nobody speaks; keeps `BEFORE_SAMPLES`. */
  #forgetOld(): void {
    let oldest = this.#parts[0]
    while (oldest && this.#held - oldest.length >= BEFORE_SAMPLES) {
      this.#parts.shift()
      this.#held -= oldest.length
      this.options.share.add(-oldest.length * BYTES_PER_SAMPLE)
      oldest = this.#parts[0]
    }
  }

  #end(): void {
    if (this.#mode !== 'manual' && this.#spoken < SPOKEN_SAMPLES_MIN) {
      this.#clear()
      return
    }
    if (this.#mode !== 'realtime') this.#mode = null
    this.options.onEnd(this.#take())
  }

  #take(): Int16Array {
    const samples = new Int16Array(this.#held)
    let at = 0
    for (const part of this.#parts) {
      samples.set(part, at)
      at += part.length
    }
    this.#clear()
    return samples
  }
}
