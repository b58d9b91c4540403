/** The scope of an audio worklet, which the types of pages leave out. */
declare const registerProcessor: (name: string, processor: unknown) => void
declare class AudioWorkletProcessor {
  readonly port: MessagePort
}

/** About 20 ms at the usual 48 kHz. */
const FRAME_SAMPLES = 1_024

/** Hands the first channel to the page in frames; what it puts out is silence. */
class Listener extends AudioWorkletProcessor {
  #frame = new Float32Array(FRAME_SAMPLES)
  #filled = 0

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    for (const sample of input?.[0] ?? []) {
      this.#frame[this.#filled++] = sample
      if (this.#filled < FRAME_SAMPLES) continue
      this.port.postMessage(this.#frame, [this.#frame.buffer])
      this.#frame = new Float32Array(FRAME_SAMPLES)
      this.#filled = 0
    }
    return true
  }
}

registerProcessor('listener', Listener)
