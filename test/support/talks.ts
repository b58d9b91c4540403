import { expect } from 'bun:test'
import type { Conversation, ConversationListResponse } from '../../src/features/sessions/model.ts'
import { type Call, caller } from './api.ts'
import type { TestApp } from './app.ts'
import type { FakeClock } from './clock.ts'
import { postSse } from './sse.ts'
import type { Upstream } from './upstream.ts'

export interface Talking {
  readonly upstream: Upstream
  readonly clock: FakeClock
  readonly email: string
}

/** The console of a person, and a way to have a turn with the assistant. */
export async function converse(app: TestApp, { upstream, clock, email }: Talking) {
  const { headers, tenantId } = await app.person(email)
  const call: Call = caller(`${app.url}/console`, headers)
  return {
    call,
    headers,
    tenantId,
    /** One turn; a second passes afterwards. */
    async say(session: string, text: string, reply = 'yes', more: object = {}) {
      upstream.reply({ text: reply })
      const body = { text, session_id: session, ...more }
      const stream = await postSse(`${app.url}/console/agent`, { headers, body })
      expect((await stream.all()).at(-1)?.event).toBe('llm_end')
      clock.advance(1000)
    },
    list: async (query: Record<string, string> = {}) =>
      (
        await call<ConversationListResponse>('GET', `/conversations?${new URLSearchParams(query)}`)
      ).json(),
    rename: (id: string, title: unknown) =>
      call<Conversation>('PUT', `/conversations/${encodeURIComponent(id)}`, { title }),
  }
}

/** Statements that store turns without words in the index, as earlier versions did. */
export const fillers = (tenantId: string, session: string, first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    sql: `INSERT INTO turn (tenant_id, session_id, seq, user_text, reply, created_at)
      SELECT tenant_id, id, ?, ?, 'no', last_at FROM session WHERE tenant_id = ? AND id = ?`,
    args: [first + i, `filler${first + i}`, tenantId, session],
  }))
