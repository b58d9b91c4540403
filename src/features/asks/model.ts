import { z } from 'zod'
import { issue } from '../../core/errors.ts'

/** Body of POST …/agent/asks/:id. The content is checked against what was asked. */
export const AskAnswerRequest = z.lazy(() =>
  z.object({
    action: z.enum(['accept', 'decline', 'cancel'], {
      error: issue('field_invalid', { field: 'action' }),
    }),
    content: z
      .record(z.string(), z.unknown(), {
        error: issue('field_type', { field: 'content', kind: 'object' }),
      })
      .optional(),
    remember: z
      .literal('session', { error: issue('field_invalid', { field: 'remember' }) })
      .optional(),
  }),
)
export type AskAnswerRequest = z.infer<typeof AskAnswerRequest>

export const AskAnswerResponse = z.lazy(() => z.object({ id: z.string() }))
