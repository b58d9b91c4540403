import type { HistoryResponse, Message, SessionRow } from './model.ts'
import type { SessionStore, StoredTurn } from './store.ts'

const messagesOf = (turns: readonly StoredTurn[]): Message[] =>
  turns.flatMap(({ user_text, reply }): Message[] => [
    { role: 'user', content: user_text },
    { role: 'assistant', content: reply },
  ])

/** The session index, the history of a session and its deletion. */
export function createSessions({ store }: { store: SessionStore }) {
  return {
    /** Most recently active first. `since` is inclusive and compared as text. */
    async list(
      tenantId: string,
      since: string,
      limit: number,
    ): Promise<{ sessions: SessionRow[] }> {
      return { sessions: await store.list(tenantId, since, limit) }
    },

    /** The verbatim turns and the summary of the older ones; empty for an unknown session. */
    async history(tenantId: string, id: string): Promise<HistoryResponse> {
      const memory = await store.memory(tenantId, id)
      const messages = messagesOf(memory?.turns ?? [])
      return { messages, summary: memory?.summary ?? '', count: messages.length }
    },

    /** Deletes turns, summary and index row. Idempotent: an unknown session is a success. */
    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      await store.remove(tenantId, id)
      return { id, deleted: true }
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>
