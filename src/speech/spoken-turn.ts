import { AppError, appError, type ErrorCode } from '../core/errors.ts'
import { TTS_TEXT_CHARS_MAX } from '../core/limits/contract.ts'
import { charCount } from '../core/text.ts'
import type { AgentEvent } from '../features/agent/events.ts'
import { createSentences } from './sentences.ts'

/** A turn of the agent that was admitted. */
interface Turn {
  run(
    signal: AbortSignal,
    emit: (events: readonly AgentEvent[]) => Promise<void> | undefined,
  ): Promise<unknown>
}

/** The sound of a text. Resolves when it begins; rejects when the text cannot be spoken. */
export type Speak = (text: string, signal: AbortSignal) => Promise<AsyncGenerator<Uint8Array>>

/** A sentence of an answer and its sound. */
export interface SpokenSentence {
  readonly text: string
  /**
   * Resolves with the first sound; rejects with an `AppError` when the sentence cannot be spoken.
   * The receiver must read the sound to its end or abort the signal.
   */
  readonly sound: Promise<AsyncGenerator<Uint8Array>>
}

/** Begins to speak a text. */
export function speakSentence(speak: Speak, text: string, signal: AbortSignal): SpokenSentence {
  const sound = speak(text, signal)
  // Marked as handled: it is awaited after the sentences before it, or never.
  sound.catch(() => {})
  return { text, sound }
}

/** How a turn has ended. */
export interface TurnEnd {
  /** The whole answer; null when the turn failed. */
  readonly reply: string | null
  readonly failure: AppError | null
}

interface SpokenTurn {
  readonly turn: Turn
  /** What was asked. */
  readonly question: string
  /** Begins a sentence, while the one before it is played. */
  readonly speak: (text: string) => SpokenSentence
  /** Aborting it ends turn and speech. */
  readonly signal: AbortSignal
  /** Called once, when the model has finished. */
  readonly onEnd: (end: TurnEnd) => void
}

/** Runs a turn and yields its answer sentence by sentence while the model still writes. */
export async function* speakTurn(spoken: SpokenTurn): AsyncGenerator<SpokenSentence> {
  const { speak, signal } = spoken
  const written = writtenSentences(spoken)
  const begin = async (): Promise<SpokenSentence | null> => {
    const { value } = await written.next()
    return value === undefined || signal.aborted ? null : speak(value)
  }
  let coming = begin()
  for (let sentence = await coming; sentence !== null; sentence = await coming) {
    coming = begin()
    yield sentence
  }
}

/** The sentences of a turn as they are written. */
async function* writtenSentences({
  turn,
  question,
  signal,
  onEnd,
}: SpokenTurn): AsyncGenerator<string> {
  let cutter = createSentences(question)
  let waiting: string[] = []
  let news = Promise.withResolvers<void>()
  let isOver = false
  let end: TurnEnd = { reply: null, failure: null }

  function take(event: AgentEvent): void {
    if (event.type === 'llm_delta') waiting.push(...cutter.push(event.text))
    if (event.type === 'llm_end') {
      end = { ...end, reply: event.reply }
      waiting.push(...cutter.finish())
    }
    // The text before a tool call is a sentence, even without a mark at its end.
    if (event.type === 'tool_call') waiting.push(...cutter.finish())
    if (event.type === 'error') {
      end = { ...end, failure: new AppError(event.code, {}, { status: 502 }) }
    }
    // Another channel starts the answer over; spoken sentences cannot be taken back.
    if (event.type === 'provider_fallback') {
      cutter = createSentences(question)
      waiting = []
    }
    if (waiting.length > 0) news.resolve()
  }

  const running = turn
    .run(signal, (events) => {
      for (const event of events) take(event)
      return undefined
    })
    .finally(() => {
      isOver = true
      onEnd(end)
      news.resolve()
    })
  running.catch(() => {})

  let spoken = 0
  while (spoken < TTS_TEXT_CHARS_MAX) {
    const sentence = waiting.shift()
    if (sentence !== undefined) {
      spoken += charCount(sentence)
      yield sentence
    } else if (isOver) return
    else {
      news = Promise.withResolvers()
      await news.promise
    }
  }
}

/**
 * Runs a turn to its end and returns the reply. An `error` event becomes a 502 with its code and
 * sentence, except for a key that was revoked meanwhile, which is a 401.
 */
export async function replyOf(turn: Turn, signal: AbortSignal): Promise<string> {
  let reply: string | null = null
  let failure: ErrorCode | null = null
  await turn.run(signal, (events) => {
    for (const event of events) {
      if (event.type === 'error') failure = event.code
      if (event.type === 'llm_end') reply = event.reply
    }
    return undefined
  })
  if (failure === 'invalid_key') throw appError(failure)
  if (failure !== null) throw new AppError(failure, {}, { status: 502 })
  if (reply === null) throw appError('turn_unavailable')
  return reply
}
