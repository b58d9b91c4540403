/** Of the server's stream: signed 16-bit samples, little-endian, mono. */
const RATE = 32_000
const FULL = 0x8000
/** Time to hand over the first samples before they are due. */
const LEAD_S = 0.06

type SpeakStream = (text: string, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>

interface Spoken {
  readonly abort: AbortController
  readonly sources: Set<AudioBufferSourceNode>
  readonly queue: string[]
  /** When the last sample that is handed over ends, by the clock of the context. */
  until: number
  /** Resolves when all sentences are handed over. */
  work: Promise<void>
  /** Resolves when the sentences that are handed over were heard. */
  heard: Promise<void>
}

/**
 * Speaks sentences one after another, each while the next is fetched. What nobody will hear is not
 * fetched: at most one sentence is ahead of the one that sounds.
 */
export function createSpeaker(context: AudioContext, speak: SpeakStream) {
  let now = begun()

  function begun(): Spoken {
    const abort = new AbortController()
    const done = Promise.resolve()
    return { abort, sources: new Set(), queue: [], until: 0, work: done, heard: done }
  }

  async function handOver(text: string, here: Spoken): Promise<void> {
    const stream = await speak(text, here.abort.signal)
    const before = here.heard
    for await (const samples of samplesOf(stream)) {
      here.abort.signal.throwIfAborted()
      here.heard = play(samples, here)
    }
    await before
  }

  function play(samples: Float32Array<ArrayBuffer>, here: Spoken): Promise<void> {
    const sound = context.createBuffer(1, samples.length, RATE)
    sound.copyToChannel(samples, 0)
    const source = context.createBufferSource()
    source.buffer = sound
    source.connect(context.destination)
    const at = Math.max(here.until, context.currentTime + LEAD_S)
    source.start(at)
    here.until = at + sound.duration
    here.sources.add(source)
    return new Promise((resolve) => {
      source.onended = () => {
        here.sources.delete(source)
        resolve()
      }
    })
  }

  async function run(here: Spoken): Promise<void> {
    for (let text = here.queue[0]; text !== undefined; text = here.queue[0]) {
      await handOver(text, here)
      here.queue.shift()
    }
  }

  return {
    isSpeaking: () => now.sources.size > 0,
    say(text: string): void {
      const here = now
      here.queue.push(text)
      if (here.queue.length === 1) {
        here.work = here.work.then(() => run(here))
        // `finished` tells it.
        here.work.catch(() => {})
      }
    },
    /** Resolves when all is spoken or was stopped. Throws why a sentence could not be spoken. */
    async finished(): Promise<void> {
      const here = now
      await here.work.catch((error: unknown) => {
        if (!here.abort.signal.aborted) throw error
      })
      await here.heard
    },
    /** Silence, at once. */
    stop(): void {
      const before = now
      now = begun()
      before.abort.abort()
      for (const source of before.sources) source.stop()
    },
  }
}

export type Speaker = ReturnType<typeof createSpeaker>

/** The samples of a stream, whose pieces may end within a sample. */
async function* samplesOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Float32Array<ArrayBuffer>> {
  const reader = stream.getReader()
  let odd = new Uint8Array()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const bytes = new Uint8Array(odd.length + value.length)
    bytes.set(odd)
    bytes.set(value, odd.length)
    const whole = bytes.length - (bytes.length % 2)
    odd = bytes.slice(whole)
    const view = new DataView(bytes.buffer, 0, whole)
    const samples = Float32Array.from(
      { length: whole / 2 },
      (_, at) => view.getInt16(at * 2, true) / FULL,
    )
    if (samples.length > 0) yield samples
  }
}
