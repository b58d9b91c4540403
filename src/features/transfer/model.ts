import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { CarriedDocumentShown } from './document.ts'

export const ConfigExport = z.lazy(() =>
  z.object({
    format_version: z.literal(1),
    exported_at: z.string(),
    personas: z.array(z.object({ name: z.string(), prompt: z.string(), is_default: z.boolean() })),
    apps: z.array(
      z.object({
        name: z.string(),
        system_prompt: z.string().nullable(),
        /** Name of a persona of the same document; null also when that persona was deleted. */
        persona_ref: z.string().nullable(),
        model: z.string().nullable(),
        thinking: z.boolean().nullable(),
        temperature: z.number().nullable(),
        kb_enabled: z.boolean(),
        tools_enabled: z.array(z.string()).nullable(),
        /** Names of collections, or the word none; null: all documents. */
        collections: z.array(z.string()).nullable(),
        reminders: z.boolean().optional(),
        memory: z.enum(['off', 'app', 'tenant']).optional(),
        icon: z.string().optional(),
        description: z.string().optional(),
        greeting: z.string().optional(),
        starters: z.array(z.string()).optional(),
        may_ask: z.boolean().optional(),
      }),
    ),
    settings: z.object({
      model: z.string().nullable(),
      thinking: z.boolean(),
      temperature: z.number().nullable(),
      price_in: z.number().optional(),
      price_out: z.number().optional(),
      mcp_tools: z.array(z.string()),
      time_zone: z.string().optional(),
      language: z.enum(['zh', 'en']).optional(),
      collections: z.array(z.string()).nullable().optional(),
      reminders: z.boolean().optional(),
      titles: z.boolean(),
      memory: z.enum(['off', 'app', 'tenant']).optional(),
      ocr: z.enum(['off', 'scans']),
      ocr_model: z.string().nullable(),
      may_ask: z.boolean().optional(),
    }),
    /** Absent when there are none. */
    prompts: z
      .array(z.object({ name: z.string(), title: z.string(), text: z.string() }))
      .optional(),
    /** Without their secrets, disabled. Absent when there are none. */
    webhooks: z
      .array(
        z.object({
          name: z.string(),
          url: z.string(),
          events: z.array(z.string()),
          format: z.enum(['json', 'text']),
          include_reply: z.boolean(),
          enabled: z.literal(false),
        }),
      )
      .optional(),
    /** Absent when there are none. */
    collections: z
      .array(z.object({ name: z.string(), description: z.string().nullable() }))
      .optional(),
    /** Absent when there are none. They come switched off. */
    schedules: z
      .array(
        z.object({
          name: z.string(),
          cron: z.string().nullable(),
          at: z.string().nullable(),
          time_zone: z.string(),
          text: z.string(),
          app_ref: z.string().nullable(),
          session: z.enum(['new', 'same']),
          max_model_calls: z.int(),
          enabled: z.literal(false),
        }),
      )
      .optional(),
    /** Without their secrets; their tools have to be approved again. */
    mcp_servers: z.array(
      z.object({
        name: z.string(),
        url: z.string(),
        header_name: z.string().nullable(),
        auth: z.enum(['none', 'header', 'oauth', 'client_credentials']).optional(),
        client_id: z.string().nullable().optional(),
        scopes: z.string().nullable().optional(),
        enabled: z.boolean(),
      }),
    ),
  }),
)
export type ConfigExport = z.infer<typeof ConfigExport>

/** The export as the API document shows it; with `?kb=1` it has the documents, too. */
export const ExportShown = z.lazy(() =>
  ConfigExport.unwrap().extend({ documents: z.array(CarriedDocumentShown).optional() }),
)

const items = (name: string) =>
  z
    .array(z.unknown(), { error: issue('field_type', { field: `config.${name}`, kind: 'array' }) })
    .default([])

/** Items are validated one by one later, so that an invalid one does not stop the others. */
export const ImportRequest = z.lazy(() =>
  z.object({
    config: z.object(
      {
        format_version: z.literal(1, { error: issue('format_version') }),
        personas: items('personas'),
        apps: items('apps'),
        settings: z.unknown().optional(),
        mcp_servers: items('mcp_servers'),
        prompts: items('prompts'),
        webhooks: items('webhooks'),
        collections: items('collections'),
        schedules: items('schedules'),
      },
      { error: issue('field_required', { field: 'config', kind: 'object' }) },
    ),
    /** An unknown value behaves as skip. */
    mode: z
      .unknown()
      .optional()
      .transform((mode): 'skip' | 'merge' => (mode === 'merge' ? 'merge' : 'skip')),
  }),
)
export type ImportRequest = z.infer<typeof ImportRequest>

/** The body as the API document shows it. */
export const ImportRequestShown = z.lazy(() =>
  z.object({
    config: ConfigExport,
    mode: z.enum(['skip', 'merge']).default('skip'),
  }),
)

export const ImportResult = z.lazy(() =>
  z.object({
    imported: z.object({
      personas: z.int(),
      apps: z.int(),
      settings: z.boolean(),
      mcp_servers: z.int(),
      prompts: z.int(),
      webhooks: z.int(),
      collections: z.int(),
      schedules: z.int(),
      /** Only with `?kb=1`. */
      documents: z.int().optional(),
    }),
    /** Only with `?kb=1`: false for a truncated file, whose beginning was imported. */
    complete: z.boolean().optional(),
    skipped: z.array(z.string()),
    errors: z.array(z.string()),
  }),
)
export type ImportResult = z.infer<typeof ImportResult>
