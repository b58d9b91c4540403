import type { VadStream } from '../../upstream/ports/speech.ts'

/** Detects speech in 16 kHz mono. */
export interface SpeechDetector {
  /** Calls `tell`, at once or later, with whether there is speech at the end of these samples. */
  push(samples: Int16Array, tell: (isSpeech: boolean) => void): void
  /** Forgets all sound before the next utterance; pending calls of `tell` are dropped. */
  reset(): void
  /** Must be called once. */
  close(): void
}

/** Probabilities from which speech begins, and continues; Silero recommends these values. */
const [BEGIN_LIKELY, STAY_LIKELY] = [0.5, 0.35]

/** Uses a model, and only loudness while the model gives no answer. */
export function createModelDetector(model: VadStream): SpeechDetector {
  const loudness = createEnergyDetector()
  let utterance = 0
  let isSpeech = false

  function hear(heard: readonly number[] | null, isLoud: boolean): boolean {
    if (heard === null) isSpeech = isLoud
    for (const likely of heard ?? []) {
      isSpeech = likely >= (isSpeech ? STAY_LIKELY : BEGIN_LIKELY)
    }
    return isSpeech
  }

  return {
    push(samples, tell) {
      const began = utterance
      loudness.push(samples, (isLoud) => {
        const answer = model.push(samples)
        if (answer === null) tell(hear(null, isLoud))
        else void answer.then((heard) => began === utterance && tell(hear(heard, isLoud)))
      })
    },
    reset() {
      utterance++
      isSpeech = false
      model.reset()
      loudness.reset()
    },
    close: () => model.close(),
  }
}

const RATE = 16_000
/** 20 ms. */
const WINDOW = RATE / 50
/** The noise floor is that of the quietest of this many blocks of 200 ms, such as a pause. */
const FLOOR_BLOCKS = 12
const BLOCK_WINDOWS = 10
/** Quieter sound is never speech: 54 dB below full scale. */
const QUIET_RMS = 0.002
/** Speech is this much louder than the noise floor: 6 dB to begin, 4 dB to continue. */
const BEGIN_RATIO = 2
const STAY_RATIO = 1.6
/** How many of the last windows must be loud, so that a click is not taken for speech. */
const RECENT = 8
const BEGIN_LOUD = 5
const STAY_LOUD = 3

/**
 * Detects speech by its loudness above the noise floor of the room, which is measured continuously.
 * Filters out mains hum, and ignores the artificial silence of a codec (DTX).
 */
export function createEnergyDetector(): SpeechDetector {
  let filter = createHighPass()
  let window = { count: 0, sum: 0 }
  let blocks: number[] = []
  let block: number[] = []
  let recent: boolean[] = []
  let isSpeech = false

  function measureRoom(rms: number): number {
    // Digital silence would lower the noise floor, so that everything after it is loud.
    if (rms > QUIET_RMS / 20) block.push(rms)
    const floor = Math.max(Math.min(quietOf(block), ...blocks), QUIET_RMS)
    if (block.length === BLOCK_WINDOWS) {
      blocks = [...blocks, quietOf(block)].slice(-FLOOR_BLOCKS)
      block = []
    }
    return floor
  }

  function hear(rms: number): void {
    const ratio = rms / measureRoom(rms)
    recent = [...recent, ratio > (isSpeech ? STAY_RATIO : BEGIN_RATIO)].slice(-RECENT)
    const loud = recent.filter(Boolean).length
    isSpeech = loud >= (isSpeech ? STAY_LOUD : BEGIN_LOUD)
  }

  return {
    push(samples, tell) {
      let { count, sum } = window
      for (let i = 0; i < samples.length; i++) {
        const value = filter((samples[i] as number) / 32_768)
        sum += value * value
        if (++count < WINDOW) continue
        hear(Math.sqrt(sum / WINDOW))
        count = 0
        sum = 0
      }
      window = { count, sum }
      tell(isSpeech)
    },
    close() {},
    reset() {
      filter = createHighPass()
      window = { count: 0, sum: 0 }
      blocks = []
      block = []
      recent = []
      isSpeech = false
    },
  }
}

/** The third lowest value: the edges of digital silence are quieter than the room. */
const quietOf = (block: readonly number[]): number =>
  block.toSorted((a, b) => a - b)[2] ?? Number.POSITIVE_INFINITY

const CUTOFF_HZ = 200

/** A Butterworth high-pass of second order, as a biquad in direct form I. */
function createHighPass(): (sample: number) => number {
  const omega = (2 * Math.PI * CUTOFF_HZ) / RATE
  const alpha = Math.sin(omega) / Math.SQRT2
  const cos = Math.cos(omega)
  const [b0, a0] = [(1 + cos) / 2 / (1 + alpha), 1 + alpha]
  const [a1, a2] = [(-2 * cos) / a0, (1 - alpha) / a0]
  let [x1, x2, y1, y2] = [0, 0, 0, 0]
  return (x) => {
    const y = b0 * (x - 2 * x1 + x2) - a1 * y1 - a2 * y2
    x2 = x1
    x1 = x
    y2 = y1
    y1 = y
    return y
  }
}
