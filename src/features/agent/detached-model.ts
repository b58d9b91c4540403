import { z } from 'zod'

/** A turn that has not ended, or was cut off by the death of its server. */
export const PendingTurn = z.object({
  turn_id: z.string(),
  state: z.enum(['running', 'interrupted']),
  /** The question, as history keeps it. */
  text: z.string(),
  /** The words of the answer so far. */
  partial: z.string(),
  /** Files of the question. */
  files: z.array(z.string()),
  started_at: z.string(),
})
export type PendingTurn = z.infer<typeof PendingTurn>

/** A row of the list of conversations, and its turns that have not ended. */
export const ConversationDetail = z.object({
  id: z.string(),
  title: z.string(),
  turn_count: z.int(),
  last_at: z.string(),
  app_id: z.string().nullable(),
  device_id: z.string().nullable(),
  pending: z.array(PendingTurn),
})

export const TurnStopResponse = z.object({
  turn_id: z.string(),
  /** Whether words of the answer are stored as a turn. */
  stored: z.boolean(),
})

export const TurnDeleteResponse = z.object({ id: z.string(), deleted: z.literal(true) })
