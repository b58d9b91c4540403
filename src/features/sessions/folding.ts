import type { Clock } from '../../core/clock.ts'
import { MEMORY_CHARS_MAX } from '../../core/limits/contract.ts'
import { TURN_MS_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { bytesOfText, type MemoryBudget, type MemoryShare } from '../../core/memory-budget.ts'
import { firstChars } from '../../core/text.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { Leases } from '../../storage/shared-state.ts'
import type { Llm, LlmMessage } from '../../upstream/ports/llm.ts'
import { isOverLimit } from './service.ts'
import type { SessionStore, StoredTurn } from './store.ts'

export interface FoldingOptions {
  readonly store: SessionStore
  readonly clock: Pick<Clock, 'after'>
  readonly jobs: Jobs
  readonly leases: Pick<Leases, 'hold'>
  readonly log: Logger
  /** The memory that all requests share; a summary may not take more of it than a turn. */
  readonly budget: MemoryBudget
}

/** The channel and model that write the summary. */
export interface SummaryWriter {
  readonly llm: Llm
  /** Null for the default model of `llm`. */
  readonly model: string | null
  /** Whether the tenant still has this channel configured. */
  isCurrent(): Promise<boolean>
}

const INSTRUCTION =
  '你在维护一段对话的长期记忆。把已有摘要与下面的对话合并成一份新的摘要：保留事实、偏好、' +
  '姓名、数字、决定和未完成的事，略去寒暄；用对话所用的语言，不超过 400 字，只输出摘要本身。'

/**
 * Folds the older half of a long session into its summary, in the background. One transaction
 * replaces the turns by the summary; after any failure all turns stay until the next attempt.
 */
export function createFolding({ store, clock, jobs, leases, log, budget }: FoldingOptions) {
  const underWay = new Set<string>()

  async function fold(
    tenantId: string,
    sessionId: string,
    writer: SummaryWriter,
    isTooLong: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const memory = await store.memory(tenantId, sessionId)
    if (!memory || !(isTooLong || isOverLimit(memory.turns))) return
    const old = memory.turns.slice(0, Math.ceil(memory.turns.length / 2))
    const last = old.at(-1)
    // A channel that was removed meanwhile must not get any more of the conversation.
    if (!last || !(await writer.isCurrent())) return
    const summary = await write(tenantId, writer, messagesFor(memory.summary, old), signal)
    if (summary === '') throw new Error('the summary came back empty')
    await store.fold(tenantId, sessionId, memory.foldedThrough, last, summary)
  }

  async function write(
    tenantId: string,
    writer: SummaryWriter,
    messages: readonly LlmMessage[],
    signal: AbortSignal,
  ): Promise<string> {
    const late = new AbortController()
    const tooLate = () => late.abort(new Error('the summary took too long'))
    const cancel = clock.after(TURN_MS_MAX, tooLate)
    const share = budget.open(tenantId)
    try {
      for (const { content } of messages) share.add(bytesOfText(content))
      return await summarise(writer, messages, AbortSignal.any([signal, late.signal]), share)
    } finally {
      share.close()
      cancel()
    }
  }

  return {
    /**
     * Folds the session when it is over its limit, or too long for its model; one fold of a session
     * at a time.
     */
    start(tenantId: string, sessionId: string, writer: SummaryWriter, isTooLong = false): void {
      const name = `${tenantId}/${sessionId}`
      if (underWay.has(name)) return
      underWay.add(name)
      jobs.run('fold memory', (signal) =>
        leases
          .hold(`fold ${name}`, signal, (held) =>
            fold(tenantId, sessionId, writer, isTooLong, held),
          )
          .catch((error: unknown) =>
            log.warn('memory not folded', { tenant: tenantId, ...errorFields(error) }),
          )
          .finally(() => underWay.delete(name)),
      )
    },
  }
}

export type Folding = ReturnType<typeof createFolding>

/** Asks for the summary and cuts it: a longer one would displace turns that stay verbatim. */
async function summarise(
  { llm, model }: SummaryWriter,
  messages: readonly LlmMessage[],
  signal: AbortSignal,
  share: MemoryShare,
): Promise<string> {
  const options = { model, passages: [], tools: [], thinking: false, temperature: null }
  let summary = ''
  let heldBytes = 0
  for await (const parts of await llm.open({ purpose: 'summary', messages, ...options }, signal)) {
    for (const part of parts) {
      if (part.type === 'held') {
        share.add(part.bytes - heldBytes)
        heldBytes = part.bytes
      } else if (part.type === 'text') {
        share.add(bytesOfText(part.text))
        summary += part.text
      }
    }
    if (summary.length > 2 * MEMORY_CHARS_MAX) break
  }
  return firstChars(summary.trim(), MEMORY_CHARS_MAX)
}

function messagesFor(summary: string, turns: readonly StoredTurn[]): LlmMessage[] {
  const talk = turns
    .map(({ user_text, reply }) => `用户：${user_text}\n助手：${reply}`)
    .join('\n\n')
  const before = summary === '' ? '（无）' : summary
  return [
    { role: 'system', content: INSTRUCTION },
    { role: 'user', content: `已有摘要：\n${before}\n\n对话：\n${talk}` },
  ]
}
