import { AppError, appError } from '../../core/errors.ts'
import { sessionId } from '../../core/fields.ts'
import { AGENT_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { WYOMING_SUBJECT } from '../../core/subject.ts'
import { charCount } from '../../core/text.ts'
import type { Agent } from '../../features/agent/service.ts'
import { replyOf } from '../../speech/spoken-turn.ts'
import type { WyomingPeer } from '../../upstream/ports/wyoming.ts'

export interface ConversationParts {
  readonly agent: Pick<Agent, 'openTurn'>
  /** Counts the turn to the key; throws `rate_limited` and `budget_spent`. */
  readonly take: () => Promise<unknown>
}

/** The fields of a turn for the request log. */
export interface TurnNote {
  readonly sessionId?: string | null
  readonly textChars?: number
  readonly channel?: 'byo' | 'platform'
  readonly refused?: AppError
}

/** Errors that are spoken as an answer, so that the person hears them. */
const SPOKEN: readonly string[] = ['rate_limited', 'budget_spent']

/** Runs one turn for Home Assistant: answers `transcript` with `handled`. */
export async function converse(
  { agent, take }: ConversationParts,
  principal: Principal,
  data: Readonly<Record<string, unknown>>,
  peer: WyomingPeer,
  note: (more: TurnNote) => void,
): Promise<void> {
  const said = typeof data.text === 'string' ? data.text.trim().toWellFormed() : ''
  const context = isRecord(data.context) ? data.context : {}
  if (said === '') {
    return peer.send('not-handled', { text: appError('speech_not_understood').message, context })
  }
  const session = sessionOf(context)
  note({ sessionId: session, textChars: charCount(said) })
  if (charCount(said) > AGENT_TEXT_CHARS_MAX) {
    throw appError('field_too_long', { field: 'text', max: AGENT_TEXT_CHARS_MAX })
  }
  try {
    await take()
    const asked = { text: said, images: [], kb: true, subject: WYOMING_SUBJECT }
    const request = { ...asked, door: 'wyoming' as const }
    const turn = await agent.openTurn(principal, request, session)
    try {
      await peer.send('handled', { text: await replyOf(turn, peer.signal), context })
    } finally {
      note({ channel: turn.channel })
    }
  } catch (error) {
    if (!(error instanceof AppError && SPOKEN.includes(error.code))) throw error
    note({ refused: error })
    await peer.send('handled', { text: error.message, context })
  }
}

/** The session of Home Assistant's conversation id; without one nothing is remembered. */
function sessionOf({ conversation_id: id }: Readonly<Record<string, unknown>>): string | null {
  return typeof id === 'string' && id.trim() !== '' ? sessionId(`ha-${id.trim()}`) : null
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
