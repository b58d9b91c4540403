import type { Clock } from '../core/clock.ts'
import { SPEECH_THREAD_IDLE_MS } from '../core/limits/machine.ts'
import { startThread } from '../core/thread.ts'
import { timeSlice } from '../core/time-slice.ts'
import { ChannelFailure } from '../upstream/ports/failure.ts'
import type { AudioCodecs, SpeechEncoder } from '../upstream/ports/speech.ts'
import type { EncodeAnswer, EncodedFormat, EncodeRequest } from './encode-worker.ts'
import { createSampleReader } from './pcm.ts'
import { streamedWavHeader } from './wav.ts'

export interface EncoderOptions {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  /** Address of `encode-worker.ts`: a file beside the sources, or an entry of the executable. */
  readonly encoderUrl: string
  /** Maximum of threads; another one starts when all are busy. */
  readonly threads: number
}

/** One second of sound, after which the thread turns to another speech. */
const MESSAGE_BYTES = 64 * 1024
/** Smaller chunks are compressed together: a quarter of a second. */
const COMPRESSED_BYTES_MIN = 16 * 1024

type Thread = ReturnType<typeof createThread>

/** Implements `AudioCodecs.speechEncoder` with threads that many speeches share. */
export function createEncode(options: EncoderOptions): AudioCodecs['speechEncoder'] {
  const threads = new Set<Thread>()
  let lastId = 0

  /** The thread with the fewest speeches, or a new one when all are busy. */
  function chooseThread(): Thread {
    const [least] = [...threads].sort((a, b) => a.speeches() - b.speeches())
    if (least && (least.speeches() === 0 || threads.size >= options.threads)) return least
    const thread: Thread = createThread(options, () => threads.delete(thread))
    threads.add(thread)
    return thread
  }

  return (format, rate) => {
    const onThread = (made: EncodedFormat) => encoderOn(chooseThread(), ++lastId, made, rate)
    if (format !== 'pcm' && format !== 'wav') return onThread(format)
    const pcm = passThrough(() => onThread('pcm'), rate, options.clock.steady)
    return format === 'wav' ? behindHeader(streamedWavHeader(rate), pcm) : pcm
  }
}

/** Puts the header before the first sound, so that nothing is sent before there is sound. */
function behindHeader(header: Uint8Array, pcm: SpeechEncoder): SpeechEncoder {
  let isSent = false
  async function* after(chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      yield isSent ? chunk : Buffer.concat([header, chunk])
      isSent = true
    }
  }
  return {
    encode: (bytes, rate) => after(pcm.encode(bytes, rate)),
    finish: () => after(pcm.finish()),
    close: pcm.close,
  }
}

/** PCM that already has the wanted rate needs no thread. */
function passThrough(
  onThread: () => SpeechEncoder,
  outRate: number,
  steady: () => number,
): SpeechEncoder {
  const read = createSampleReader()
  const slice = timeSlice(steady)
  let encoder: SpeechEncoder | null = null
  return {
    async *encode(pcm, rate) {
      if (encoder || rate !== outRate) {
        encoder ??= onThread()
        yield* encoder.encode(pcm, rate)
        return
      }
      const samples = read(pcm)
      if (slice.isOver()) await slice.next()
      if (samples.length > 0) yield new Uint8Array(samples.buffer)
    },
    async *finish() {
      if (encoder) yield* encoder.finish()
    },
    close: () => encoder?.close(),
  }
}

function encoderOn(
  thread: Thread,
  id: number,
  format: EncodedFormat,
  outRate: number,
): SpeechEncoder {
  // Packets are played while they are made, so the first must not wait.
  const least = format === 'pcm' || format === 'packets' ? 1 : COMPRESSED_BYTES_MIN
  let held = { rate: 0, bytes: 0, chunks: [] as Uint8Array[] }

  async function* send(): AsyncGenerator<Uint8Array> {
    const { rate, chunks } = held
    held = { rate, bytes: 0, chunks: [] }
    const all = Buffer.concat(chunks)
    for (let at = 0; at < all.length; at += MESSAGE_BYTES) {
      const pcm = new Uint8Array(all.subarray(at, at + MESSAGE_BYTES))
      const bytes = await thread.ask({ type: 'pcm', id, pcm, rate })
      if (bytes.length > 0) yield bytes
    }
  }

  thread.open(id, format, outRate)
  return {
    async *encode(pcm, rate) {
      if (rate !== held.rate) yield* send()
      held.rate = rate
      held.chunks.push(pcm)
      held.bytes += pcm.length
      if (held.bytes >= least) yield* send()
    },
    async *finish() {
      yield* send()
      yield await thread.ask({ type: 'finish', id })
    },
    close: () => thread.close(id),
  }
}

/** One encoding thread. `onEnd` is called once, when it takes no more speeches. */
function createThread({ clock, encoderUrl }: EncoderOptions, onEnd: () => void) {
  const speeches = new Set<number>()
  let cancelIdle = () => {}
  const thread = startThread<EncodeRequest, EncodeAnswer>({
    url: encoderUrl,
    keyOf: ({ id }) => id,
    ended: notEncoded,
    onEnd() {
      cancelIdle()
      onEnd()
    },
  })

  return {
    speeches: () => speeches.size,
    open(id: number, format: EncodedFormat, rate: number): void {
      cancelIdle()
      speeches.add(id)
      thread.tell({ type: 'open', id, format, rate })
    },
    /** One call at a time for each speech. Rejects when the thread has ended. */
    async ask(request: EncodeRequest): Promise<Uint8Array> {
      const sent = request.type === 'pcm' ? [request.pcm.buffer as ArrayBuffer] : []
      const { bytes } = await thread.ask(request, sent)
      if (!bytes) throw notEncoded()
      return bytes
    },
    close(id: number): void {
      if (!speeches.delete(id)) return
      thread.tell({ type: 'close', id })
      if (speeches.size === 0) cancelIdle = clock.after(SPEECH_THREAD_IDLE_MS, thread.end)
    },
  }
}

const notEncoded = () => new ChannelFailure('provider_error', 'speech cannot be encoded')
