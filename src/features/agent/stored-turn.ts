import { ANONYMOUS } from '../../core/fields.ts'
import type { FilesOfTurn } from '../files/turn-files.ts'
import type { MemoriesOfTurn } from '../memories/turn-memories.ts'
import type { TurnTools } from '../runs/reminder-tools.ts'
import type { TurnDetails } from '../sessions/model.ts'
import type { Memory, StoredTurn } from '../sessions/store.ts'
import { counted } from './channel-choice.ts'
import type { ModelAnswer } from './model-loop.ts'
import { rememberedText } from './prompt.ts'
import type { Turn, TurnOptions } from './turn-parts.ts'

interface Remembered {
  readonly before: Memory
  readonly replaces: StoredTurn | null
  readonly details: TurnDetails
  readonly files: FilesOfTurn
  readonly own: TurnTools
  readonly memories: MemoriesOfTurn
}

/**
 * Stores the turn; once the session is long, or too long for the model that answered, its older
 * half is folded by the same channel. Resolves with the number of the turn.
 */
export async function appendTurn(
  options: TurnOptions,
  turn: Turn & { readonly sessionId: string },
  answer: ModelAnswer,
  { before, replaces, details, files, memories, own }: Remembered,
): Promise<number | null> {
  const { clock, memory, folding, titles } = options
  const { text: reply, channel, forgot } = answer
  const { principal, sessionId, request, fence: order } = turn
  const { tenantId, appId, deviceId } = principal
  const at = clock.iso()
  const userText = rememberedText(request.text, request.images, namesOf(files))
  const pictures = isTalk(turn, before)
    ? request.pictures?.storing(request.storing !== undefined)
    : []
  const also = [...files.link, ...(pictures ?? []), ...memories.storing(), ...own.writes()]
  const fence = [...order, ...(request.storing?.(answer) ?? []), ...also]
  const { seq, isLong } = await memory.appendTurn(before, {
    tenantId,
    sessionId,
    userText,
    reply,
    at,
    appId,
    deviceId,
    replaces,
    details: JSON.stringify(details),
    hasFiles: files.link.length > 0,
    fence,
    principal,
  })
  // Folded by the channel that answered. A channel of the tenant that has just failed would fail at
  // the summary, too, and the platform's must see only what `provider_fallback` has announced.
  if (isLong || forgot) {
    folding.start(tenantId, sessionId, counted(options, principal, channel), forgot)
  }
  const isNew = before.turns.length === 0 && before.foldedThrough === 0 && replaces === null
  if (seq !== null && isNew && turn.resolved.titles && isTalk(turn, before)) {
    const said = { principal, sessionId, seq, at, userText, reply }
    titles.start(said, counted(options, principal, channel))
  }
  return seq
}

const namesOf = ({ named }: FilesOfTurn) => named.map(({ name }) => name)

/** Whether the session is the person's own, or becomes so by this turn. */
export function isTalk({ principal: { userId }, sessionId }: Turn, { owner }: Memory): boolean {
  if (userId === null || sessionId === null || sessionId === ANONYMOUS) return false
  return owner === undefined || owner === userId
}
