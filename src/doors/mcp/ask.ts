import type { Clock } from '../../core/clock.ts'
import { AppError, appError, type ErrorCode } from '../../core/errors.ts'
import { sessionId } from '../../core/fields.ts'
import { charCount } from '../../core/text.ts'
import type { AnsweringChannel, KbRef } from '../../features/agent/events.ts'
import type { Agent } from '../../features/agent/service.ts'
import type { Ask, AskAnswer } from './tools.ts'

/** Clients that wait 60 s for an answer restart that wait at each progress notification. */
const PROGRESS_MS = 8_000

/**
 * One turn of the agent as a call of a tool: its answer as a whole. Without a session nothing is
 * recalled or stored. Throws `AppError`.
 */
export const createAsk =
  (agent: Pick<Agent, 'openTurn'>, clock: Pick<Clock, 'every'>): Ask =>
  async ({ text, session_id, kb }, { principal, signal, progress, note }) => {
    const session = session_id ? sessionId(session_id) : null
    note({ sessionId: session, textChars: charCount(text) })
    const stopProgress = clock.every(PROGRESS_MS, progress)
    try {
      const request = { text, images: [], kb, subject: null, door: 'mcp' as const }
      const turn = await agent.openTurn(principal, request, session)
      const answer = await answerOf(turn, signal)
      note({ channel: turn.channel })
      return answer
    } finally {
      stopProgress()
    }
  }

async function answerOf(
  turn: Awaited<ReturnType<Agent['openTurn']>>,
  signal: AbortSignal,
): Promise<AskAnswer> {
  let refs: readonly KbRef[] = []
  let reply: string | null = null
  let channel: AnsweringChannel = turn.channel
  let failure: ErrorCode | null = null
  await turn.run(signal, (events) => {
    for (const event of events) {
      if (event.type === 'kb_refs') refs = event.refs
      if (event.type === 'stats') channel = event.channel
      if (event.type === 'llm_end') reply = event.reply
      if (event.type === 'error') failure = event.code
    }
    return undefined
  })
  if (failure !== null) throw new AppError(failure, {})
  if (reply === null) throw appError('turn_unavailable')
  return { reply, kb_refs: refs, channel }
}
