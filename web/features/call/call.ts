import type { Turn } from '../studio/turn.ts'
import type { EarEvents } from './ear.ts'
import { createSentences } from './sentences.ts'
import type { Speaker } from './speaker.ts'

/** What a call is doing; `hearing` while the person speaks. */
export type CallState =
  | 'opening'
  | 'listening'
  | 'hearing'
  | 'understanding'
  | 'thinking'
  | 'speaking'

/** An error, an answer that failed in the talk, or sound without words. */
export type Problem = Error | 'failed' | 'nothing'

export interface CallParts {
  /** Recognises what was said in pieces, one after another. */
  readonly recognise: (said: readonly AudioBuffer[], signal: AbortSignal) => Promise<string>
  /** Asks, tells the answer as it grows, and resolves once it has ended; null when it was not. */
  readonly ask: (text: string, onReply: (reply: string) => void) => Promise<Turn | null>
  /** Stops the answer that is being written. */
  readonly stop: () => void
  readonly speaker: Speaker
  readonly onState: (state: CallState) => void
  readonly onProblem: (problem: Problem | null) => void
  readonly onLost: () => void
}

/**
 * A conversation by voice: hears, asks, speaks by sentence. Who speaks meanwhile is heard at once:
 * an answer ends there, and words after a short pause belong to the question before it was asked.
 */
export function createCall(parts: CallParts) {
  const { recognise, ask, stop, speaker, onState, onProblem, onLost } = parts
  let here = new AbortController()
  let said: AudioBuffer[] = []
  let answering: Promise<unknown> | null = null

  /** Silence; what was under way goes on for nobody. */
  function interrupt(): void {
    here.abort()
    here = new AbortController()
    speaker.stop()
    if (answering) stop()
  }

  async function answer(text: string, { signal }: AbortController): Promise<void> {
    onState('thinking')
    await answering
    if (signal.aborted) return
    const sentences = createSentences()
    const speak = (reply: string, isLast: boolean) => {
      if (signal.aborted) return
      const next = sentences.push(reply, isLast)
      if (next.startedOver) speaker.stop()
      for (const sentence of next.said) speaker.say(sentence)
      if (next.said.length > 0) onState('speaking')
    }
    const asked = ask(text, (reply) => speak(reply, false))
    answering = asked
    const turn = await asked.finally(() => {
      if (answering === asked) answering = null
    })
    if (turn?.state === 'done') speak(turn.reply, true)
    else if (!signal.aborted) onProblem('failed')
    await speaker.finished()
  }

  async function understand(): Promise<void> {
    const mine = here
    const { signal } = mine
    onState('understanding')
    try {
      const text = (await recognise(said, signal)).trim()
      if (signal.aborted) return
      said = []
      onProblem(text === '' ? 'nothing' : null)
      if (text !== '') await answer(text, mine)
    } catch (error) {
      if (signal.aborted) return
      said = []
      onProblem(error as Error)
    }
    if (!signal.aborted) onState('listening')
  }

  const events: EarEvents = {
    onBegins() {
      interrupt()
      onState('hearing')
    },
    onEnds(sound) {
      said.push(sound)
      void understand()
    },
    onLost,
    isSpeaking: speaker.isSpeaking,
  }
  return {
    events,
    /** Ends the answer, and listens. */
    interrupt() {
      interrupt()
      onState('listening')
    },
    /** Ends what is under way, for good. */
    end: interrupt,
  }
}
