import { TEMPORARY_TURNS_MAX } from '../../../src/core/limits/contract.ts'
import type { TurnRequest } from '../../api/stream.ts'
import type { Replaced } from './asked-of.ts'
import { isTemporary } from './fresh.ts'
import type { Turn } from './turn.ts'

/** What a question of a temporary talk brings along, which the server does not have. */
export function broughtIn(
  session: string,
  turns: readonly Turn[],
  replaces: Replaced | null,
): Pick<TurnRequest, 'temporary'> {
  if (!isTemporary(session)) return {}
  const said = turns.filter(
    ({ id, state, reply }) => id !== replaces?.id && state !== 'failed' && reply !== '',
  )
  return { temporary: said.slice(-TEMPORARY_TURNS_MAX).map(({ text, reply }) => ({ text, reply })) }
}
