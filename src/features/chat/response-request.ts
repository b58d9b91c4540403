import { z } from 'zod'
import type { ForcedTool, ResponseFormat, ToolSpec } from '../../channels/ports/llm.ts'
import { appError, issue } from '../../core/errors.ts'
import {
  CHAT_MESSAGES_MAX,
  CHAT_TEXT_CHARS_MAX,
  CLIENT_TOOLS_MAX,
} from '../../core/limits/contract.ts'
import { CHAT_PARTS_MAX } from '../../core/limits/machine.ts'
import type { TurnRequest } from '../agent/turn-config.ts'
import { type CallerMessage, type CallerPart, readConversation } from './conversation.ts'
import {
  answerSchema,
  bodyOf,
  boundMessages,
  boundText,
  imageUrl,
  list,
  NO_PARAMETERS,
  name,
  oneOf,
  penalty,
  refused,
  share,
  TOOL_NAME,
  temperature,
  text,
  toolParameters,
  unsupportedValue,
} from './fields.ts'

/** The body of POST /v1/responses (contract 2, 1.10). */

const Part = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: text() }),
    z.object({ type: z.literal('input_image'), image_url: imageUrl }),
    z.object({ type: z.literal('refusal'), refusal: text() }),
  ],
  oneOf('type'),
)
const Content = z.union([text(), list(Part, CHAT_PARTS_MAX)])
type Content = z.output<typeof Content>

/** Adds the type to a message, which may omit it. */
const typed = (item: unknown): unknown =>
  typeof item === 'object' && item !== null && 'role' in item && !('type' in item && item.type)
    ? { ...item, type: 'message' }
    : item

/** Items of earlier answers that clients send back and that the model does not need. */
const PASSED_OVER = ['reasoning', 'file_search_call'] as const

const Item = z.preprocess(
  typed,
  z.discriminatedUnion(
    'type',
    [
      z.object({
        type: z.literal('message'),
        role: z.enum(['user', 'assistant', 'system', 'developer'], unsupportedValue('role')),
        content: Content,
      }),
      z.object({
        type: z.literal('function_call'),
        call_id: name(),
        name: name(),
        arguments: text(),
      }),
      z.object({ type: z.literal('function_call_output'), call_id: name(), output: Content }),
      z.object({ type: z.enum(PASSED_OVER) }),
    ],
    oneOf('type'),
  ),
)
type Item = z.output<typeof Item>

const Tool = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z.literal('function'),
      name: z.string().regex(TOOL_NAME),
      description: text().nullish(),
      parameters: toolParameters.nullish(),
      strict: z.boolean().nullish(),
    }),
    z.object({
      type: z.literal('file_search'),
      vector_store_ids: z
        .array(z.string())
        .refine(
          ([id, ...more]) => id === 'kb' && more.length === 0,
          unsupportedValue('vector_store_ids'),
        ),
    }),
  ],
  oneOf('type'),
)
type Tool = z.output<typeof Tool>

const Format = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.enum(['text', 'json_object']) }),
    z.object({
      type: z.literal('json_schema'),
      name: z.string(),
      description: text().nullish(),
      schema: answerSchema.nullish(),
      strict: z.boolean().nullish(),
    }),
  ],
  oneOf('type'),
)
type Format = z.output<typeof Format>

/** Counted before it is read. */
function boundMetadata(given: unknown, context: z.RefinementCtx): unknown {
  let count = 0
  for (const _ in given as object) {
    if (++count <= METADATA_MAX) continue
    context.addIssue({ code: 'custom', message: issue('unsupported_value', { field: 'metadata' }) })
    break
  }
  return given
}

/** The least that the standard allows. */
const OUTPUT_TOKENS_MIN = 16
const METADATA_MAX = 16

export const ResponseRequest = bodyOf(
  z.object({
    input: z.preprocess(
      boundMessages('input'),
      z.union([text(), z.array(Item).max(CHAT_MESSAGES_MAX)]),
    ),
    model: z.string().default(''),
    instructions: text()
      .max(2 * CHAT_TEXT_CHARS_MAX)
      .default(''),
    stream: z.boolean().default(false),
    tools: z.preprocess(boundText('tools'), list(Tool, CLIENT_TOOLS_MAX)).default([]),
    tool_choice: z
      .union([
        z.enum(['auto', 'none', 'required']),
        z.object({ type: z.literal('function'), name: z.string() }),
      ])
      .default('auto'),
    parallel_tool_calls: z.boolean().optional(),
    text: z
      .object({ format: z.preprocess(boundText('text'), Format.nullish()) })
      .default({ format: null }),
    temperature,
    top_p: share,
    presence_penalty: penalty,
    frequency_penalty: penalty,
    max_output_tokens: z.int().min(OUTPUT_TOKENS_MIN).optional(),
    max_tool_calls: z.int().min(1).optional(),
    reasoning: z.object({ effort: name().nullish() }).optional(),
    metadata: z
      .preprocess(boundMetadata, z.record(z.string().max(64), z.string().max(512)))
      .default({}),
    truncation: z.enum(['auto', 'disabled']).default('disabled'),
    user: name().optional(),
    safety_identifier: name().optional(),
    prompt_cache_key: name().optional(),
    store: z.boolean().optional(),
    conversation: z.union([z.string(), z.object({ id: z.string() })]).optional(),
    background: z.literal(false, unsupportedValue('background')).optional(),
    previous_response_id: refused('previous_response_id（请改用 conversation）'),
    prompt: refused('prompt'),
  }),
)
export type ResponseRequest = z.output<typeof ResponseRequest>

/** The session that the body names. */
export const conversationId = ({ conversation }: ResponseRequest): string | undefined =>
  typeof conversation === 'object' ? conversation.id : conversation

/** The turn that the request asks for. Throws a 400 that names the field. */
export function turnOfResponse(request: ResponseRequest, hasSession: boolean): TurnRequest {
  const { input, instructions, tools, tool_choice: choice } = request
  const opening: readonly CallerMessage[] =
    instructions === '' ? [] : [{ at: 'instructions', role: 'system', text: instructions }]
  const names = { field: 'input', callId: 'call_id' }
  const spoken: readonly CallerMessage[] =
    typeof input === 'string'
      ? [{ at: 'input', role: 'user', parts: [input] }]
      : callerMessages(input)
  const said = [...opening, ...spoken]
  const { text, images, context, messages } = readConversation(said, names, hasSession)
  const effort = request.reasoning?.effort ?? null
  return {
    text,
    images,
    kb: tools.some(({ type }) => type === 'file_search'),
    conversation: {
      context,
      messages,
      temperature: request.temperature ?? null,
      thinking: effort === null ? null : effort !== 'none' && effort !== 'minimal',
      clientTools: tools.flatMap(specOf),
      toolChoice: typeof choice === 'object' ? forced(choice.name, tools) : choice,
      sampling: {
        topP: request.top_p,
        presencePenalty: request.presence_penalty,
        frequencyPenalty: request.frequency_penalty,
        maxTokens: request.max_output_tokens,
        responseFormat: formatOf(request.text.format),
        parallelToolCalls: request.parallel_tool_calls,
      },
      fallbackOnlyWhileSilent: request.stream,
    },
  }
}

function specOf(tool: Tool): ToolSpec[] {
  if (tool.type === 'file_search') return []
  const { name, description, parameters, strict } = tool
  return [
    {
      name,
      description: description ?? '',
      parameters: parameters ?? NO_PARAMETERS,
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  ]
}

function forced(name: string, tools: readonly Tool[]): ForcedTool {
  if (tools.some((tool) => tool.type === 'function' && tool.name === name)) return { name }
  throw appError('field_invalid', { field: 'tool_choice' }, { param: 'tool_choice' })
}

/** Here the schema is beside its name; in chat completions it is one level deeper. */
function formatOf(format: Format | null | undefined): ResponseFormat | undefined {
  if (!format) return undefined
  const { type, ...schema } = format
  return type === 'json_schema' ? { type, json_schema: schema } : { type }
}

/**
 * Here calls are separate items; a `CallerMessage` has them in the assistant's message before them.
 */
function callerMessages(items: readonly Item[]): CallerMessage[] {
  const said: CallerMessage[] = []
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`
    if (item.type === 'function_call') {
      const call = { id: item.call_id, name: item.name, arguments: item.arguments }
      const before = said.at(-1)
      if (before?.role === 'assistant') {
        said[said.length - 1] = { ...before, calls: [...before.calls, call] }
      } else {
        said.push({ at, role: 'assistant', text: '', calls: [call] })
      }
    } else if (item.type === 'function_call_output') {
      said.push({ at, role: 'tool', callId: item.call_id, text: textOf(item.output) })
    } else if (item.type === 'message') {
      said.push(messageOf(item, at))
    }
  }
  return said
}

function messageOf(
  { role, content }: Extract<Item, { type: 'message' }>,
  at: string,
): CallerMessage {
  if (role === 'user') return { at, role, parts: partsOf(content) }
  if (role === 'assistant') return { at, role, text: textOf(content), calls: [] }
  return { at, role: 'system', text: textOf(content) }
}

function partsOf(content: Content): CallerPart[] {
  if (typeof content === 'string') return [content]
  return content.map((part) => {
    if (part.type === 'input_image') return { image: part.image_url }
    return part.type === 'refusal' ? part.refusal : part.text
  })
}

const textOf = (content: Content): string =>
  partsOf(content)
    .filter((part) => typeof part === 'string')
    .join('\n')
