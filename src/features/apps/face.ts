import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { nullableText, requiredText } from '../../core/fields.ts'
import {
  APP_DESCRIPTION_CHARS_MAX,
  APP_GREETING_CHARS_MAX,
  APP_STARTER_CHARS_MAX,
  APP_STARTERS_MAX,
} from '../../core/limits/contract.ts'

/** One emoji, of however many code points. */
const EMOJI = /^\p{RGI_Emoji}$/v

const icon = z
  .string({ error: issue('field_type', { field: 'icon', kind: 'string_or_null' }) })
  .trim()
  .refine((text) => text === '' || EMOJI.test(text), { error: issue('icon_not_emoji') })
  .transform((text) => (text === '' ? null : text))
  .nullable()
  .default(null)

const starters = z
  .array(requiredText('starters 的每一项', APP_STARTER_CHARS_MAX), {
    error: issue('field_type', { field: 'starters', kind: 'string_array_or_null' }),
  })
  .max(APP_STARTERS_MAX, {
    error: issue('too_many_items', { field: 'starters', max: APP_STARTERS_MAX }),
  })
  .nullable()
  .default([])
  .transform((list) => list ?? [])

/** How an app shows itself to people; nothing of it reaches a model. */
export const faceFields = {
  icon,
  description: nullableText('description', APP_DESCRIPTION_CHARS_MAX),
  greeting: nullableText('greeting', APP_GREETING_CHARS_MAX),
  starters,
}

/** The same in answers. */
export const faceShown = {
  icon: z.string().nullable(),
  description: z.string().nullable(),
  greeting: z.string().nullable(),
  starters: z.array(z.string()),
}
