import { z } from 'zod'
import { issue } from './errors.ts'

/** What a thumb says, from whatever door it comes. */

const REASONS = [
  ...(['wrong', 'incomplete', 'source', 'style', 'slow', 'unsafe', 'other'] as const),
] as const

/** 1 is a thumb up, -1 one down, and 0 takes it back. */
export const rating = z.literal([1, -1, 0], { error: issue('field_invalid', { field: 'rating' }) })

/** The name of a person as one who gives thumbs: each has one for a turn. */
export const personGiver = (userId: string): string => `person ${userId}`

export const reason = z
  .enum(REASONS, { error: issue('unsupported_value', { field: 'reason' }) })
  .nullable()
  .default(null)
