import type { HistoryResponse, Message, SessionRow } from './model.ts'
import type { SessionStore, StoredTurn } from './store.ts'

const messagesOf = (turns: readonly StoredTurn[]): Message[] =>
  turns.flatMap(({ user_text, reply }): Message[] => [
    { role: 'user', content: user_text },
    { role: 'assistant', content: reply },
  ])

/** What callers see of sessions: the index, what is remembered, and forgetting it. */
export function createSessions({ store }: { store: SessionStore }) {
  return {
    /** Most recently active first; `since` is compared as text, inclusive. */
    async list(
      tenantId: string,
      since: string,
      limit: number,
    ): Promise<{ sessions: SessionRow[] }> {
      return { sessions: await store.list(tenantId, since, limit) }
    },

    /** What is held verbatim and the summary of what is not; empty for a session never used. */
    async history(tenantId: string, id: string): Promise<HistoryResponse> {
      const memory = await store.memory(tenantId, id)
      const messages = messagesOf(memory?.turns ?? [])
      return { messages, summary: memory?.summary ?? '', count: messages.length }
    },

    /** Clears memory and index row; deleting what is not there is a success (idempotent). */
    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      await store.remove(tenantId, id)
      return { id, deleted: true }
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>
