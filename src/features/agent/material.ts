import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import type { Question } from '../../core/question.ts'
import type { KbHit } from '../knowledge/model.ts'
import type { Kb } from '../knowledge/service.ts'
import type { MemoriesOfTurn, TurnMemories } from '../memories/turn-memories.ts'
import type { ResolvedTurn } from './turn-config.ts'
import type { Retrieved } from './turn-events.ts'

/** What the model reads beside the conversation. */

interface MaterialSources {
  readonly log: Logger
  readonly retrieve: Kb['retrieve']
  readonly memories: TurnMemories
}

/** The turn that the material is for. */
interface Asking {
  readonly principal: Principal
  readonly sessionId: string | null
  readonly question: Question
  readonly subject: string | null
  readonly resolved: ResolvedTurn
}

const NO_PASSAGES: readonly KbHit[] = []

export const passagesOf = (found: Retrieved) =>
  found === null || found === 'skipped' ? NO_PASSAGES : found.passages

/** What is remembered of the one who speaks. */
export function openMemories(
  { memories }: MaterialSources,
  { principal, sessionId, question, subject, resolved }: Asking,
  signal: AbortSignal,
): Promise<MemoriesOfTurn> {
  const { tenantId, appId } = principal
  return memories.open(
    { tenantId, subject, appId, sessionId, scope: resolved.memory, question },
    signal,
  )
}

/** When the search fails, the agent still answers, and an event of the turn says so. */
export async function retrieveFor(
  { retrieve, log }: MaterialSources,
  { principal, question, resolved }: Asking,
  signal: AbortSignal,
): Promise<Retrieved> {
  // The text is empty for an image without a question.
  if (!resolved.kb || question.text === '') return null
  try {
    const { collections } = resolved
    return await retrieve({ tenantId: principal.tenantId, collections }, question, signal)
  } catch (error) {
    signal.throwIfAborted()
    log.warn('retrieval failed', errorFields(error))
    return 'skipped'
  }
}
