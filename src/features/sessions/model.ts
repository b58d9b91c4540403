import { z } from 'zod'

const Message = z.object({
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
