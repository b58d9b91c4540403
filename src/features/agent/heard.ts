import { addTokens, NO_TOKENS } from './call-count.ts'
import type { Emit } from './events.ts'
import type { Channel } from './model-call.ts'
import { type ModelAnswer, type ModelLoop, runModelLoop } from './model-loop.ts'

/** Why a signal aborts: the person has enough of the answer, so what was written is kept. */
export class TurnStopped extends Error {
  override readonly name = 'TurnStopped'
}

export const isStopped = (signal: AbortSignal): boolean => signal.reason instanceof TurnStopped

/** An answer, or what was written of it when it was stopped. */
export interface HeardAnswer extends ModelAnswer {
  readonly stopped?: true
}

/**
 * Runs the model loop, and gives what was written when the turn is stopped. Throws what the loop
 * throws when the turn ends in another way, or is stopped before a word was written.
 */
export async function hearModel(
  loop: ModelLoop,
  signal: AbortSignal,
  emit: Emit,
): Promise<HeardAnswer> {
  let text = ''
  let channel: Channel = loop.primary
  let usage = NO_TOKENS
  let modelCalls = 0
  const counted: ModelLoop = {
    ...loop,
    countTokens(label, tokens, hasBegun) {
      modelCalls += 1
      if (hasBegun) usage = addTokens(usage, tokens)
      loop.countTokens(label, tokens, hasBegun)
    },
  }
  const listening: Emit = (events) => {
    for (const event of events) {
      if (event.type === 'llm_delta') text += event.text
      if (event.type === 'provider_fallback') {
        text = ''
        channel = loop.fallback ?? channel
      }
    }
    return emit(events)
  }
  try {
    return await runModelLoop(counted, signal, listening)
  } catch (error) {
    if (!isStopped(signal) || text.trim() === '') throw error
    const model = loop.trace.model ?? null
    const rest = { finish: 'other', clientCalls: [], forgot: false, model, usage } as const
    return { ...rest, text, channel, modelCalls, stopped: true }
  }
}
