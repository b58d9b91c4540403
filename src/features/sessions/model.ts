import { z } from 'zod'
import { badRequest } from '../../core/errors.ts'
import { SESSION_ID_CHARS_MAX } from '../../core/limits.ts'
import { charCount } from '../../core/text.ts'

/** The tenant-shared anonymous session (specification, AgentRequest). */
export const ANONYMOUS = 'anon'

export const Message = z.object({
  role: z.enum(['user', 'assistant']),
  content: z.string(),
})
export type Message = z.infer<typeof Message>

export const HistoryResponse = z.object({
  messages: z.array(Message),
  summary: z.string(),
  count: z.int(),
})
export type HistoryResponse = z.infer<typeof HistoryResponse>

export const SessionRow = z.object({
  id: z.string(),
  turn_count: z.int(),
  first_at: z.string(),
  last_at: z.string(),
  app_id: z.string().nullable(),
  device_id: z.string().nullable(),
})
export type SessionRow = z.infer<typeof SessionRow>

export const SessionListResponse = z.object({ sessions: z.array(SessionRow) })
export const SessionDeleteResponse = z.object({ id: z.string(), deleted: z.literal(true) })

/** The caller's own name of a session; empty means the anonymous one. Too long: 400. */
export function sessionId(given: string | undefined): string {
  const id = given?.trim() ?? ''
  if (charCount(id) > SESSION_ID_CHARS_MAX) {
    throw badRequest(`session_id 过长（最多 ${SESSION_ID_CHARS_MAX} 个字符）`)
  }
  return id || ANONYMOUS
}
