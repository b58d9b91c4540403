import { z } from 'zod'
import { nullableFlag, nullableTemperature, nullableText } from '../../core/fields.ts'
import { MODEL_CHARS_MAX } from '../../core/limits/contract.ts'

/** Body of PUT /console/settings. Replaces all fields; null or absent: platform default. */
export const TenantSettingsRequest = z.object({
  model: nullableText('model', MODEL_CHARS_MAX),
  thinking: nullableFlag('thinking').transform((value) => value ?? false),
  temperature: nullableTemperature,
})

export const TenantSettings = z.object({
  model: z.string().nullable(),
  thinking: z.boolean(),
  temperature: z.number().nullable(),
})
export type TenantSettings = z.infer<typeof TenantSettings>

/** The settings of a tenant that has set nothing. */
export const PLATFORM_DEFAULTS: TenantSettings = { model: null, thinking: false, temperature: null }
