import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { nullableText, optionalFlag, requiredText } from '../../core/fields.ts'
import {
  MCP_CLIENT_ID_CHARS_MAX,
  MCP_CLIENT_SECRET_CHARS_MAX,
  MCP_HEADER_NAME_CHARS_MAX,
  MCP_HEADER_VALUE_CHARS_MAX,
  MCP_SCOPES_CHARS_MAX,
  MCP_SERVER_NAME,
  MCP_TOOL_NAME_CHARS_MAX,
  MCP_TOOLS_KEPT_MAX,
  MCP_URL_CHARS_MAX,
} from '../../core/limits/contract.ts'

/** A token (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Headers that a tenant may not set: those of the request, of the protocol, and cookies. */
const RESERVED = new RegExp(
  `^(?:${[
    ...['host', 'cookie', 'connection', 'transfer-encoding', 'upgrade', 'expect', 'te', 'trailer'],
    ...['content-.*', 'accept.*', 'mcp-.*', 'x-moonbase-depth'],
  ].join('|')})$`,
  'i',
)
/** Without control characters, which would begin another header. */
const HEADER_VALUE = /^[\x20-\x7e]*$/
const VISIBLE = /^[\x21-\x7e]+$/
export const SCOPES = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

const nameForm = issue('mcp_name_form')
const headerName = nullableText('header_name', MCP_HEADER_NAME_CHARS_MAX).refine(
  (value) => value === null || (TOKEN.test(value) && !RESERVED.test(value)),
  { error: issue('field_invalid', { field: 'header_name' }) },
)
const headerValue = nullableText('header_value', MCP_HEADER_VALUE_CHARS_MAX).refine(
  (value) => value === null || HEADER_VALUE.test(value),
  { error: issue('field_invalid', { field: 'header_value' }) },
)

/** How a server is told who asks. */
const McpAuth = z.enum(['none', 'header', 'oauth', 'client_credentials'], {
  error: issue('field_invalid', { field: 'auth' }),
})
export type McpAuth = z.infer<typeof McpAuth>

const visible = (name: string, max: number) =>
  nullableText(name, max).refine((value) => value === null || VISIBLE.test(value), {
    error: issue('field_invalid', { field: name }),
  })

/** Scopes (RFC 6749, section 3.3), as one text or as a list. */
const scopes = z.lazy(() =>
  z.preprocess(
    (value) => (Array.isArray(value) ? value.join(' ') : value),
    nullableText('scopes', MCP_SCOPES_CHARS_MAX)
      .refine((value) => value === null || SCOPES.test(value), {
        error: issue('field_invalid', { field: 'scopes' }),
      })
      .transform((value) => value?.trim().replace(/ +/g, ' ') || null),
  ),
)

/** What each way to tell who asks needs of the other fields, by the field that is wrong. */
function wrongField({ auth, header_name, client_id }: AuthFields) {
  if (auth === 'none' && header_name !== null) return ['auth', 'field_invalid'] as const
  if (auth === 'header' && header_name === null) return ['header_name', 'field_missing'] as const
  if (auth === 'client_credentials' && client_id === null) {
    return ['client_id', 'field_missing'] as const
  }
  const isToken = auth === 'oauth' || auth === 'client_credentials'
  const isTaken = isToken && header_name?.toLowerCase() === 'authorization'
  return isTaken ? (['header_name', 'field_invalid'] as const) : null
}

interface AuthFields {
  readonly auth?: McpAuth | undefined
  readonly header_name: string | null
  readonly client_id: string | null
}

/** Body of POST and PUT. A secret that is left out stays as it is stored. */
export const McpServerRequest = z.lazy(() =>
  z
    .object({
      name: z
        .string({ error: issue('field_required', { field: 'name', kind: 'string' }) })
        .regex(MCP_SERVER_NAME, { error: nameForm }),
      /** Its host is checked in the service, which knows the allow-list. */
      url: requiredText('url', MCP_URL_CHARS_MAX),
      header_name: headerName,
      header_value: headerValue,
      /** Absent: `header` when a header is given, else `none`. */
      auth: McpAuth.optional(),
      client_id: visible('client_id', MCP_CLIENT_ID_CHARS_MAX),
      client_secret: visible('client_secret', MCP_CLIENT_SECRET_CHARS_MAX),
      scopes,
      enabled: optionalFlag('enabled', true),
    })
    .refine(({ header_name, header_value }) => header_name !== null || header_value === null, {
      error: issue('field_missing', { field: 'header_name' }),
    })
    .superRefine((fields, context) => {
      const wrong = wrongField(fields)
      if (wrong) context.addIssue({ code: 'custom', message: issue(wrong[1], { field: wrong[0] }) })
    })
    .transform((fields) => ({
      ...fields,
      auth: fields.auth ?? (fields.header_name === null ? 'none' : 'header'),
    })),
)
export type McpServerRequest = z.infer<typeof McpServerRequest>

const hash = z.string().regex(/^[0-9a-f]{64}$/, {
  error: issue('field_invalid', { field: 'hashes' }),
})

/**
 * Body of PUT …/tools. Names that the server does not have are ignored. A tool whose `hash` is
 * given is approved only while it is still the one that was read.
 */
export const McpApprovalRequest = z.lazy(() =>
  z.object({
    approved: z
      .array(z.string().max(MCP_TOOL_NAME_CHARS_MAX), {
        error: issue('field_required', { field: 'approved', kind: 'string_array' }),
      })
      .max(MCP_TOOLS_KEPT_MAX, {
        error: issue('too_many_items', { field: 'approved', max: MCP_TOOLS_KEPT_MAX }),
      }),
    hashes: z
      .record(z.string().max(MCP_TOOL_NAME_CHARS_MAX), hash, {
        error: issue('field_type', { field: 'hashes', kind: 'object' }),
      })
      .default({}),
    /** Tools before whose calls a person is asked; without it they stay as they are. */
    ask: z
      .array(z.string().max(MCP_TOOL_NAME_CHARS_MAX), {
        error: issue('field_type', { field: 'ask', kind: 'string_array' }),
      })
      .max(MCP_TOOLS_KEPT_MAX, {
        error: issue('too_many_items', { field: 'ask', max: MCP_TOOLS_KEPT_MAX }),
      })
      .optional(),
  }),
)
export type McpApprovalRequest = z.infer<typeof McpApprovalRequest>

/** Body of POST …/call. */
export const McpCallRequest = z.lazy(() =>
  z.object({
    tool: z.string({ error: issue('field_required', { field: 'tool', kind: 'string' }) }),
    arguments: z.record(z.string(), z.unknown(), {
      error: issue('field_required', { field: 'arguments', kind: 'object' }),
    }),
  }),
)
export type McpCallRequest = z.infer<typeof McpCallRequest>

/** A server of an imported configuration: without its secrets. */
export const ImportedMcpServer = McpServerRequest
export type ImportedMcpServer = McpServerRequest

const McpTool = z.lazy(() =>
  z.object({
    name: z.string(),
    /** The name for models and in `tools_enabled`. */
    call_name: z.string(),
    title: z.string().nullable(),
    description: z.string(),
    /** The description that was approved, for a tool that has changed since; absent for others. */
    approved_description: z.string().optional(),
    read_only: z.boolean(),
    destructive: z.boolean(),
    /** Whether a person is asked before each call. */
    ask: z.boolean(),
    /** Characters of the schema that a model gets. */
    schema_chars: z.int(),
    state: z.enum(['new', 'approved', 'changed', 'unusable']),
    /** Why it is unusable, as one word; null when it is usable. */
    reason: z.string().nullable(),
    /** SHA-256 of all that an approval applies to: name, title, description, schema, hints. */
    hash: z.string(),
  }),
)
export type McpTool = z.infer<typeof McpTool>

export const McpServer = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  header_name: z.string().nullable(),
  /** The last four characters of the header's value; null also when it cannot be decrypted. */
  header_tail: z.string().nullable(),
  auth: McpAuth,
  client_id: z.string().nullable(),
  client_secret_tail: z.string().nullable(),
  scopes: z.string().nullable(),
  /** Whether there are tokens of a person who signed in. */
  signed_in: z.boolean(),
  signed_in_by: z.string().nullable(),
  signed_in_at: z.string().nullable(),
  /** Scopes that the server has asked for since; somebody has to sign in again for them. */
  scopes_needed: z.string().nullable(),
  enabled: z.boolean(),
  /** `sign_in`: somebody has to sign in before its tools can be used. */
  state: z.enum(['ready', 'failed', 'never', 'sign_in']),
  error_class: z
    .enum([
      'unreachable',
      'timeout',
      'refused',
      'malformed',
      'outdated',
      'too_large',
      'guarded',
      'undecryptable',
      'sign_in',
    ])
    .nullable(),
  /** The protocol revision that was agreed on. */
  protocol: z.string().nullable(),
  /** Time of the last listing, with all its requests. */
  latency_ms: z.int().nullable(),
  checked_at: z.string().nullable(),
  tools: z.array(McpTool),
  created_at: z.string(),
})
export type McpServer = z.infer<typeof McpServer>
export type McpErrorClass = NonNullable<McpServer['error_class']>

const JsonSchema = z.lazy(() => z.record(z.string(), z.unknown()))

/** A tool with its schema. */
export const McpDefinition = z.lazy(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    /** Schema of its arguments for models; null for an unusable tool. */
    schema: JsonSchema.nullable(),
    hash: z.string(),
    /** The approved version, when the tool has changed since; an unknown `schema` is null. */
    approved: z.object({ description: z.string(), schema: JsonSchema.nullable() }).nullable(),
    /** When it was approved, and by whom: the address of a person, or a key. */
    approval: z.object({ at: z.string(), by: z.string().nullable() }).optional(),
    /** Its last call in a conversation. */
    last_call: z.object({ at: z.string(), ok: z.boolean() }).optional(),
  }),
)
export type McpDefinition = z.infer<typeof McpDefinition>

/** The answer of a tool to a person who tries it. */
export const McpCallResponse = z.lazy(() =>
  z.object({
    /** False also when the tool reports an error. */
    ok: z.boolean(),
    ms: z.int(),
    /** As the model would get it; empty when there was no answer. */
    text: z.string(),
    /** Why there was no answer. */
    error_class: McpServer.shape.error_class,
  }),
)
export type McpCallResponse = z.infer<typeof McpCallResponse>

export const McpServersResponse = z.lazy(() => z.object({ servers: z.array(McpServer) }))
export const McpServerDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)

/** Where a person signs in at the server's authorization server. */
export const McpSignInResponse = z.lazy(() => z.object({ url: z.string() }))

/** OAuth Client ID Metadata Document. */
export const McpClientDocument = z.lazy(() =>
  z.object({
    client_id: z.string(),
    client_name: z.string(),
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    response_types: z.array(z.string()),
    token_endpoint_auth_method: z.string(),
  }),
)
