import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { TurnRequest } from '../../api/stream.ts'
import { talks } from '../../api/talks.ts'
import { askedOf } from './asked-of.ts'

const MISSING = 404

/** A talk whose first question never arrived is unknown to the server. */
const noneOf = (error: unknown): readonly [] => {
  if (error instanceof ApiError && error.status === MISSING) return []
  throw error
}

/**
 * Whether the server answers this question or has answered it, after the turn of that number; or
 * its end has interrupted the answer, which the next question would drop.
 * Throws `ApiError` when it does not say.
 */
export async function hasTaken(
  { session_id: session, text }: TurnRequest,
  after: number,
): Promise<boolean | 'interrupted'> {
  const pending = await talks.pending(session).catch(noneOf)
  const open = pending.find((turn) => askedOf(turn.text).text === text)
  if (open) return open.state === 'interrupted' ? open.state : true
  const stored = await api.sessions
    .transcript(session, { limit: 1 })
    .then(({ turns }) => turns)
    .catch(noneOf)
  return stored.some(({ seq, user_text }) => seq > after && askedOf(user_text).text === text)
}
