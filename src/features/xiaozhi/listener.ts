import type { PacketDecoder } from '../../channels/ports/speech.ts'
import type { Clock } from '../../core/clock.ts'
import type { MemoryShare } from '../../core/memory-budget.ts'
import type { ListenMode } from './messages.ts'
import type { SpeechDetector } from './speech-detector.ts'

const RATE = 16_000
const BYTES_PER_SAMPLE = 2
/** So much silence ends an utterance: in sound, and by the clock where a board sends none. */
const SILENCE_SAMPLES = 0.7 * RATE
const NO_PACKET_MS = 900
/** Sound before speech was noticed that belongs to it. */
const BEFORE_SAMPLES = RATE / 2
const UTTERANCE_SAMPLES_MAX = 60 * RATE
/** Less is a cough or a door. */
const SPOKEN_SAMPLES_MIN = 0.15 * RATE
/** Speech of this length interrupts an answer; less may be its echo. */
const BARGE_IN_SAMPLES = 0.3 * RATE

export interface ListenerOptions {
  readonly decoder: PacketDecoder
  readonly detector: SpeechDetector
  readonly clock: Pick<Clock, 'after'>
  /** Counts the sound that is held. */
  readonly share: MemoryShare
  /** Somebody has begun to speak, for long enough to mean it. */
  readonly onSpeech: () => void
  /** The utterance is over: after silence, at its longest, or when there is no memory for more. */
  readonly onEnd: (samples: Int16Array) => void
}

/** Collects what is said into a board, and finds its end where the board does not tell it. */
export class Listener {
  #mode: ListenMode | null = null
  #parts: Int16Array[] = []
  #held = 0
  #isSpeech = false
  #spoken = 0
  #silent = 0
  #cancelTimer = () => {}

  constructor(private readonly options: ListenerOptions) {}

  begin(mode: ListenMode): void {
    this.#clear()
    this.#mode = mode
  }

  /** A packet of Opus; one that cannot be read is dropped. */
  push(packet: Uint8Array): void {
    if (this.#mode === null) return
    const samples = this.options.decoder.decode(packet)
    if (samples === null) return
    if (!this.#keep(samples) || this.#held >= UTTERANCE_SAMPLES_MAX) this.#end()
    else if (this.#mode !== 'manual') this.#follow(samples)
  }

  /** The board says that the utterance is over. By hand, also one in which nothing was said. */
  stop(): void {
    if (this.#mode === null) return
    const isSaid = this.#mode === 'manual' || this.#isSpeech
    this.#mode = null
    if (isSaid) this.options.onEnd(this.#take())
    else this.#clear()
  }

  close(): void {
    this.#mode = null
    this.#clear()
    this.options.share.close()
    this.options.decoder.release()
    this.options.detector.close()
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

  /** False when there is no memory for more. */
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

  /** Sound of this length has become known as speech, or as none. */
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

  /** Before speech only the last moment is kept. */
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
