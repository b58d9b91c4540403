import { z } from 'zod'
import { Conversation } from '../sessions/model.ts'

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

export const ConversationDetail = Conversation.extend({ pending: z.array(PendingTurn) })

export const TurnStopResponse = z.object({
  turn_id: z.string(),
  /** Whether words of the answer are stored as a turn. */
  stored: z.boolean(),
})

export const TurnDeleteResponse = z.object({ id: z.string(), deleted: z.literal(true) })
