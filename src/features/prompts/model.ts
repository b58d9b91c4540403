import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { optionalText, requiredText } from '../../core/fields.ts'
import { PROMPT_TEXT_CHARS_MAX, PROMPT_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'

const NAME = /^[a-z0-9-]{1,40}$/

/** Body of POST and PUT; also a prompt of an imported configuration. Without a title: the name. */
export const PromptRequest = z.lazy(() =>
  z
    .object({
      name: z
        .string({ error: issue('field_required', { field: 'name', kind: 'string' }) })
        .trim()
        .regex(NAME, { error: issue('field_invalid', { field: 'name' }) }),
      title: optionalText('title', PROMPT_TITLE_CHARS_MAX),
      text: requiredText('text', PROMPT_TEXT_CHARS_MAX),
    })
    .transform(({ name, title, text }) => ({ name, title: title || name, text })),
)
export type PromptRequest = z.infer<typeof PromptRequest>

/** A text that people write once and send often; `{{field}}` in it asks for a value. */
export const Prompt = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    title: z.string(),
    text: z.string(),
    created_at: z.string(),
  }),
)
export type Prompt = z.infer<typeof Prompt>

export const PromptListResponse = z.lazy(() =>
  z.object({
    prompts: z.array(Prompt),
    next_before: z.string().nullable(),
  }),
)
export const PromptDeleted = z.lazy(() => z.object({ id: z.string(), deleted: z.literal(true) }))
