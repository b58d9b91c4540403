import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import {
  memorySwitch,
  nullableFlag,
  nullableTemperature,
  nullableText,
  optionalPrice,
  requiredText,
  seenCollections,
} from '../../core/fields.ts'
import {
  MODEL_CHARS_MAX,
  TENANT_NAME_CHARS_MAX,
  TIME_ZONE_CHARS_MAX,
  TOOL_NAME_CHARS_MAX,
  TOOLS_ENABLED_MAX,
} from '../../core/limits/contract.ts'

/** MCP tools for turns without an app: `{server}__{tool}`, or `{server}__*` for all of a server. */
const mcpTools = z.lazy(() =>
  z
    .array(requiredText('mcp_tools 的每一项', TOOL_NAME_CHARS_MAX), {
      error: issue('field_type', { field: 'mcp_tools', kind: 'string_array_or_null' }),
    })
    .max(TOOLS_ENABLED_MAX, {
      error: issue('too_many_items', { field: 'mcp_tools', max: TOOLS_ENABLED_MAX }),
    })
    .nullable()
    .default(null)
    .transform((value) => value ?? []),
)

/** Whether the machine knows the zone by its IANA name. */
function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return /^[A-Za-z]/.test(timeZone)
  } catch {
    return false
  }
}

const timeZone = nullableText('time_zone', TIME_ZONE_CHARS_MAX).refine(
  (zone) => zone === null || isTimeZone(zone),
  { error: issue('time_zone_unknown') },
)

const language = z
  .enum(['zh', 'en'], { error: issue('field_invalid', { field: 'language' }) })
  .nullable()
  .default(null)

const ocr = z
  .enum(['off', 'scans'], { error: issue('field_invalid', { field: 'ocr' }) })
  .nullable()
  .default(null)

/** Body of PUT /console/settings. Replaces all fields; null or absent means platform default. */
export const TenantSettingsRequest = z.lazy(() =>
  z.object({
    model: nullableText('model', MODEL_CHARS_MAX),
    thinking: nullableFlag('thinking').transform((value) => value ?? false),
    temperature: nullableTemperature,
    price_in: optionalPrice('price_in'),
    price_out: optionalPrice('price_out'),
    mcp_tools: mcpTools,
    /** By them prompts tell the time; null: UTC, and Chinese. */
    time_zone: timeZone.transform((zone) => zone ?? undefined),
    language: language.transform((word) => word ?? undefined),
    /** What turns without an app see of the documents. An omitted list stays as it is. */
    collections: seenCollections,
    /** Whether the tools of reminders are offered where an app does not say; null: no. */
    reminders: nullableFlag('reminders').transform((value) => value ?? undefined),
    /** Whether a model names the talks of people. */
    titles: nullableFlag('titles').transform((value) => value ?? true),
    /** For turns without an app, and for apps that say nothing; null: off. */
    memory: memorySwitch.transform((word) => word ?? undefined),
    /** Whether scanned pages and pictures go to a model to be read; null: no. */
    ocr: ocr.transform((word) => word ?? 'off'),
    /** The model that reads them; null: that of the tenant. */
    ocr_model: nullableText('ocr_model', MODEL_CHARS_MAX),
    /** Whether models may ask the person of an interactive turn. */
    may_ask: nullableFlag('may_ask').transform((value) => value ?? undefined),
    /** Null or absent shows the first owner's address. An import does not rename the tenant. */
    name: nullableText('name', TENANT_NAME_CHARS_MAX),
  }),
)

export type TenantSettingsRequest = z.infer<typeof TenantSettingsRequest>

export const TenantSettings = z.lazy(() =>
  z.object({
    model: z.string().nullable(),
    thinking: z.boolean(),
    temperature: z.number().nullable(),
    /** What a million tokens cost, in the currency of the tenant; absent when unknown. */
    price_in: z.number().optional(),
    price_out: z.number().optional(),
    mcp_tools: z.array(z.string()),
    /** An IANA name; absent: UTC. */
    time_zone: z.string().optional(),
    /** Absent: Chinese. */
    language: z.enum(['zh', 'en']).optional(),
    /** What turns without an app see of the documents; null: all. */
    collections: z.array(z.string()).nullable().optional(),
    /** Absent: off. */
    reminders: z.boolean().optional(),
    /** Whether a model names the talks of people. */
    titles: z.boolean(),
    /** Which facts turns remember and know; absent: none. */
    memory: z.enum(['off', 'app', 'tenant']).optional(),
    /** Whether models may ask the person of an interactive turn; absent: no. */
    may_ask: z.boolean().optional(),
    /** Whether scanned pages and pictures go to a model to be read. */
    ocr: z.enum(['off', 'scans']),
    /** The model that reads them; null: that of the tenant. */
    ocr_model: z.string().nullable(),
    /** The tenant's name; absent in an exported configuration. */
    name: z.string().optional(),
  }),
)
export type TenantSettings = z.infer<typeof TenantSettings>

/** The settings of a tenant that has set nothing. */
export const PLATFORM_DEFAULTS: TenantSettings = {
  model: null,
  thinking: false,
  temperature: null,
  mcp_tools: [],
  titles: true,
  ocr: 'off',
  ocr_model: null,
}
