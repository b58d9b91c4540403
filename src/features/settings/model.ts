import { z } from 'zod'
import { MODEL_CHARS_MAX } from '../../core/limits/contract.ts'
import { nullableFlag, nullableTemperature, nullableText } from '../../core/zod-fields.ts'

/** Body of PUT /console/settings: replaces all three; null or absent is the platform default. */
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

/** What a tenant that has chosen nothing runs with. */
export const PLATFORM_DEFAULTS: TenantSettings = { model: null, thinking: false, temperature: null }
