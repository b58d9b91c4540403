import { ChannelFailure } from '../channels/ports/failure.ts'
import { orAborted } from '../core/abort.ts'
import type { Clock } from '../core/clock.ts'
import { appError } from '../core/errors.ts'
import {
  AUDIO_DECODE_STEP_MS_MAX,
  AUDIO_DECODERS_MAX,
  AUDIO_SECONDS_MAX,
} from '../core/limits/machine.ts'
import type { Answer, Ask } from './decode-worker.ts'

export interface DecoderOptions {
  readonly clock: Clock
  /** Address of `decode-worker.ts`: a file beside the sources, or an entry of the executable. */
  readonly workerUrl: string
}

export type Decode = (
  bytes: Uint8Array,
  rate: number,
  signal: AbortSignal,
) => AsyncGenerator<Uint8Array>

/**
 * Decodes uploads in worker threads, a few at a time, as fast as the reader pulls. Memory stays
 * bounded for files made to explode, and a file that makes a library spin is cut off.
 */
export function createDecode({ clock, workerUrl }: DecoderOptions): Decode {
  const enter = createTurnstile(AUDIO_DECODERS_MAX)
  return async function* decode(bytes, rate, signal) {
    const leave = await enter(signal)
    const worker = new Worker(workerUrl)
    try {
      worker.postMessage({ bytes, rate } satisfies Ask)
      for (;;) {
        const answer = await ask(worker, clock, signal)
        if (answer.type === 'end') return
        if (answer.type === 'failed') throw failure(answer.reason)
        yield answer.pcm
      }
    } finally {
      worker.terminate()
      leave()
    }
  }
}

function failure(reason: 'unreadable' | 'too_long'): Error {
  if (reason === 'too_long') return appError('audio_too_long', { max: AUDIO_SECONDS_MAX / 60 })
  return new ChannelFailure('provider_error', 'unreadable audio')
}

async function ask(worker: Worker, clock: Clock, signal: AbortSignal): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const unreadable = () => reject(failure('unreadable'))
  worker.onmessage = (event: MessageEvent<Answer>) => resolve(event.data)
  worker.onerror = (event) => {
    event.preventDefault()
    unreadable()
  }
  const cancel = clock.after(AUDIO_DECODE_STEP_MS_MAX, unreadable)
  try {
    worker.postMessage('next' satisfies Ask)
    return await orAborted(promise, signal)
  } finally {
    cancel()
  }
}

/** Lets `count` callers in at a time, the others in their order. */
function createTurnstile(count: number): (signal: AbortSignal) => Promise<() => void> {
  const waiting: (() => void)[] = []
  let free = count
  const leave = () => {
    const next = waiting.shift()
    if (next === undefined) free++
    else next()
  }
  return (signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      if (free > 0) {
        free--
        return resolve(leave)
      }
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve(leave)
      }
      const giveUp = () => {
        waiting.splice(waiting.indexOf(enter), 1)
        reject(signal.reason)
      }
      waiting.push(enter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
}
