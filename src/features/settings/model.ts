import { z } from 'zod'
import {
  nullableFlag,
  nullableTemperature,
  nullableText,
  optionalPrice,
} from '../../core/fields.ts'
import { MODEL_CHARS_MAX } from '../../core/limits/contract.ts'

/** Body of PUT /console/settings. Replaces all fields; null or absent: platform default. */
export const TenantSettingsRequest = z.object({
  model: nullableText('model', MODEL_CHARS_MAX),
  thinking: nullableFlag('thinking').transform((value) => value ?? false),
  temperature: nullableTemperature,
  price_in: optionalPrice('price_in'),
  price_out: optionalPrice('price_out'),
})

export const TenantSettings = z.object({
  model: z.string().nullable(),
  thinking: z.boolean(),
  temperature: z.number().nullable(),
  /** What a million tokens cost, in the currency of the tenant; absent: unknown. */
  price_in: z.number().optional(),
  price_out: z.number().optional(),
})
export type TenantSettings = z.infer<typeof TenantSettings>

/** The settings of a tenant that has set nothing. */
export const PLATFORM_DEFAULTS: TenantSettings = { model: null, thinking: false, temperature: null }
