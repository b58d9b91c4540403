import type { LlmMessage } from '../../channels/ports/llm.ts'
import { MEMORY_CHARS_MAX, MEMORY_TURNS_MAX } from '../../core/limits/contract.ts'
import { SESSION_UNITS_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { charCount } from '../../core/text.ts'
import type { FinishedTurn, Memory, SessionStore, Turn } from './store.ts'

/** Writes the new rolling summary of `messages`; throws when the model cannot. */
export type Summarise = (messages: readonly LlmMessage[]) => Promise<string>

export interface MemoryOptions {
  readonly store: SessionStore
  readonly log: Logger
}

const INSTRUCTION =
  '你在维护一段对话的长期记忆。把已有摘要与下面的对话合并成一份新的摘要：保留事实、偏好、' +
  '姓名、数字、决定和未完成的事，略去寒暄；用对话所用的语言，不超过 400 字，只输出摘要本身。'

/**
 * What a session remembers: the newest turns verbatim, everything older as a rolling summary.
 * Folding happens after the reply was sent, replaces turns by their summary in one transaction, and
 * on any failure leaves all turns in place for the next time (contract, Memory).
 */
export function createMemory({ store, log }: MemoryOptions) {
  const folding = new Set<string>()

  const recall = async (tenantId: string, sessionId: string): Promise<Memory> =>
    (await store.memory(tenantId, sessionId)) ?? { summary: '', foldedThrough: 0, turns: [] }

  const isOver = (turns: readonly Spoken[]) =>
    turns.length > MEMORY_TURNS_MAX || (turns.length > 1 && hasMoreChars(turns, MEMORY_CHARS_MAX))

  async function fold(tenantId: string, sessionId: string, summarise: Summarise) {
    const { summary, foldedThrough, turns } = await recall(tenantId, sessionId)
    if (!isOver(turns)) return
    const old = turns.slice(0, Math.ceil(turns.length / 2))
    const last = old.at(-1)
    if (!last) return
    const next = (await summarise(summaryRequest(summary, old))).trim()
    if (next === '') throw new Error('the summary came back empty')
    await store.fold(tenantId, sessionId, foldedThrough, last, next)
  }

  return {
    recall,

    /** Whether so much could not be folded that no further turn fits; every turn is read whole. */
    isFull: ({ turns }: Memory): boolean => unitsOf(turns) > SESSION_UNITS_MAX,

    /**
     * Stores a turn that was answered on top of `before`; on disk when this resolves, with whether
     * the turns held verbatim are now over their limit.
     */
    async append(before: Memory, turn: FinishedTurn): Promise<boolean> {
      await store.append(turn)
      return isOver([...before.turns, { user_text: turn.userText, reply: turn.reply }])
    },

    /** Folds the oldest half once the verbatim turns are over their limit; one fold at a time. */
    async foldWhenLong(tenantId: string, sessionId: string, summarise: Summarise): Promise<void> {
      const name = `${tenantId}/${sessionId}`
      if (folding.has(name)) return
      folding.add(name)
      try {
        await fold(tenantId, sessionId, summarise)
      } catch (error) {
        log.warn('memory not folded', { tenant: tenantId, ...errorFields(error) })
      } finally {
        folding.delete(name)
      }
    },
  }
}

export type SessionMemory = ReturnType<typeof createMemory>

type Spoken = Pick<Turn, 'user_text' | 'reply'>

/** Counts code points only when the cheaper count of units leaves a doubt. */
function hasMoreChars(turns: readonly Spoken[], most: number): boolean {
  if (unitsOf(turns) <= most) return false
  const chars = ({ user_text, reply }: Spoken) => charCount(user_text) + charCount(reply)
  return turns.reduce((sum, turn) => sum + chars(turn), 0) > most
}

const unitsOf = (turns: readonly Spoken[]): number =>
  turns.reduce((sum, { user_text, reply }) => sum + user_text.length + reply.length, 0)

function summaryRequest(summary: string, turns: readonly Turn[]): LlmMessage[] {
  const talk = turns
    .map(({ user_text, reply }) => `用户：${user_text}\n助手：${reply}`)
    .join('\n\n')
  const before = summary === '' ? '（无）' : summary
  return [
    { role: 'system', content: INSTRUCTION },
    { role: 'user', content: `已有摘要：\n${before}\n\n对话：\n${talk}` },
  ]
}
