import type { Clock } from '../../core/clock.ts'
import { type AppError, appError } from '../../core/errors.ts'
import type { AgentEvent, Emit } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { OpenedTurn } from '../../features/agent/service.ts'
import { failureOf } from './failure.ts'

/** A client is told after this time that its request was accepted. */
const SILENCE_MS = 2_000

/** Events that come before the model has answered. */
const EARLY: ReadonlySet<AgentEvent['type']> = new Set([
  'kb_refs',
  'file_refs',
  'provider_fallback',
])
const SAID: ReadonlySet<AgentEvent['type']> = new Set(['llm_delta', 'thinking_delta', 'tool_call'])

/** A turn that runs before its stream is open. */
export interface RunningTurn {
  /** Passes on the events so far and those to come; resolves with the answer, as `run` does. */
  follow(signal: AbortSignal, emit: Emit): Promise<ModelAnswer | null>
}

/**
 * Runs the turn and resolves when the model has begun to answer, or has been silent for a while.
 * Until then a failure is thrown, so that the answer to the request has its status.
 */
export async function beginTurn(
  turn: OpenedTurn,
  client: AbortSignal,
  clock: Pick<Clock, 'after'>,
): Promise<RunningTurn> {
  const abort = new AbortController()
  const begun = Promise.withResolvers<void>()
  const followed = Promise.withResolvers<void>()
  let waiting: AgentEvent[] = []
  let follower: Emit | null = null
  let failure: AppError | null = null
  let hasBegun = false
  const onLeave = () => {
    abort.abort(client.reason)
    followed.resolve()
  }
  client.addEventListener('abort', onLeave, { once: true })
  if (client.aborted) onLeave()

  const answer = turn.run(abort.signal, (events) => {
    if (follower) return follower(events)
    waiting.push(...events)
    for (const event of events) if (event.type === 'error') failure = failureOf(event)
    hasBegun ||= events.some(({ type }) => !EARLY.has(type))
    if (!hasBegun) return undefined
    begun.resolve()
    // A fast model waits for the stream, which opens at once.
    return failure ? undefined : followed.promise
  })
  void answer.finally(begun.resolve)
  const cancel = clock.after(SILENCE_MS, begun.resolve)
  await begun.promise
  cancel()
  if (failure && !waiting.some(({ type }) => SAID.has(type))) throw failure
  if (client.aborted) throw appError('client_closed')

  return {
    async follow(signal, emit) {
      const onStop = () => {
        abort.abort(signal.reason)
        followed.resolve()
      }
      signal.addEventListener('abort', onStop, { once: true })
      if (signal.aborted) onStop()
      while (waiting.length > 0) {
        const events = waiting
        waiting = []
        await emit(events)
      }
      follower = emit
      followed.resolve()
      return answer
    },
  }
}
