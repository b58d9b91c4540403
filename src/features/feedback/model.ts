import { z } from 'zod'
import { nullableText, optionalFlag } from '../../core/fields.ts'
import { FEEDBACK_TEXT_CHARS_MAX } from '../../core/limits/contract.ts'
import { rating, reason } from '../../core/rating.ts'

/** Body of PUT {sessions}/:id/turns/:seq/feedback. */
export const FeedbackRequest = z.lazy(() =>
  z.object({
    rating,
    reason,
    text: nullableText('text', FEEDBACK_TEXT_CHARS_MAX),
    /** Whether the person of a private talk shows the text to owners and editors. */
    share: optionalFlag('share', false),
  }),
)
export type FeedbackRequest = z.infer<typeof FeedbackRequest>

export const FeedbackGiven = z.lazy(() => z.object({ seq: z.int(), rating: z.int() }))
export type FeedbackGiven = z.infer<typeof FeedbackGiven>

const counts = { up: z.int(), down: z.int() }

const FeedbackItem = z.lazy(() =>
  z.object({
    id: z.string(),
    session_id: z.string(),
    seq: z.int(),
    app_id: z.string().nullable(),
    rating: z.int(),
    reason: z.string().nullable(),
    /** Null also where the person of a private talk does not show it. */
    text: z.string().nullable(),
    ts: z.string(),
  }),
)

export const FeedbackResponse = z.lazy(() =>
  z.object({
    ...counts,
    by_app: z.array(z.object({ app_id: z.string().nullable(), ...counts })),
    /** UTC days that have any, newest first, as `2026-11-23`. */
    by_day: z.array(z.object({ day: z.string(), ...counts })),
    /** Newest first. */
    items: z.array(FeedbackItem),
    next_before: z.string().nullable(),
  }),
)
export type FeedbackResponse = z.infer<typeof FeedbackResponse>
