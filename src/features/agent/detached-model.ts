import { z } from 'zod'

/** A turn that has not ended, or was cut off by the death of its server. */
export const PendingTurn = z.lazy(() =>
  z.object({
    turn_id: z.string(),
    state: z.enum(['running', 'interrupted']),
    /** The question, as history keeps it. */
    text: z.string(),
    /** The words of the answer so far. */
    partial: z.string(),
    /** Ids of the files of the question, and of its pictures. */
    files: z.array(z.string()),
    /** Its files, as far as they are there. */
    named: z.array(z.object({ file_id: z.string(), name: z.string() })),
    /** Its pictures, as far as they are kept. */
    images: z.array(z.object({ file_id: z.string(), width: z.int(), height: z.int() })),
    started_at: z.string(),
  }),
)
export type PendingTurn = z.infer<typeof PendingTurn>

/** A row of the list of conversations, and its turns that have not ended. */
export const ConversationDetail = z.lazy(() =>
  z.object({
    id: z.string(),
    title: z.string(),
    turn_count: z.int(),
    last_at: z.string(),
    app_id: z.string().nullable(),
    device_id: z.string().nullable(),
    folder: z.string().nullable(),
    pinned: z.boolean(),
    archived: z.boolean(),
    pending: z.array(PendingTurn),
  }),
)

export const TurnStopResponse = z.lazy(() =>
  z.object({
    turn_id: z.string(),
    /** Whether words of the answer are stored as a turn. */
    stored: z.boolean(),
  }),
)

export const TurnDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)
