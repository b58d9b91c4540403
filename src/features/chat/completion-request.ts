import { z } from 'zod'
import type { ForcedTool, Sampling, ToolSpec } from '../../channels/ports/llm.ts'
import { appError } from '../../core/errors.ts'
import { optionalFlag, optionalText } from '../../core/fields.ts'
import {
  CHAT_MESSAGES_MAX,
  CLIENT_TOOLS_MAX,
  STOP_SEQUENCES_MAX,
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

/** The body of POST /v1/chat/completions (contract 2, 1.4). */

const TextPart = z.object({ type: z.literal('text'), text: text() })
const ImagePart = z.object({ type: z.literal('image_url'), image_url: z.object({ url: imageUrl }) })
const RefusalPart = z.object({ type: z.literal('refusal'), refusal: text() })

/** A text, or a list of parts of the given kinds. */
const contentOf = <
  Kinds extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(
  kinds: Kinds,
) => z.union([text(), list(z.discriminatedUnion('type', kinds, oneOf('type')), CHAT_PARTS_MAX)])

const textContent = contentOf([TextPart])

const Call = z.object({
  id: name(),
  type: z.literal('function', unsupportedValue('type')),
  function: z.object({ name: name(), arguments: text() }),
})

const Message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.literal('user'), content: contentOf([TextPart, ImagePart]) }),
    z.object({ role: z.enum(['system', 'developer']), content: textContent }),
    z.object({
      role: z.literal('assistant'),
      content: contentOf([TextPart, RefusalPart]).nullish(),
      tool_calls: list(Call, CLIENT_TOOLS_MAX).nullish(),
    }),
    z.object({ role: z.literal('tool'), tool_call_id: name(), content: textContent }),
  ],
  oneOf('role'),
)
type Message = z.output<typeof Message>

const Tool = z.object({
  type: z.literal('function', unsupportedValue('type')),
  function: z.object({
    name: z.string().regex(TOOL_NAME),
    description: text().nullish(),
    parameters: toolParameters.nullish(),
    strict: z.boolean().nullish(),
  }),
})

const ToolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
])

const ResponseFormat = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.enum(['text', 'json_object']) }),
    z.object({
      type: z.literal('json_schema'),
      json_schema: z.object({
        name: z.string(),
        description: text().nullish(),
        schema: answerSchema.nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
  ],
  oneOf('type'),
)

export const CompletionRequest = bodyOf(
  z.object({
    messages: z.preprocess(
      boundMessages('messages'),
      z.array(Message).min(1).max(CHAT_MESSAGES_MAX),
    ),
    model: z.string().default(''),
    stream: z.boolean().default(false),
    stream_options: z.object({ include_usage: z.boolean().nullish() }).optional(),
    tools: z.preprocess(boundText('tools'), list(Tool, CLIENT_TOOLS_MAX)).default([]),
    tool_choice: ToolChoice.optional(),
    parallel_tool_calls: z.boolean().optional(),
    temperature,
    top_p: share,
    presence_penalty: penalty,
    frequency_penalty: penalty,
    seed: z.int().optional(),
    stop: z.union([name(), list(name(), STOP_SEQUENCES_MAX)]).optional(),
    max_tokens: z.int().min(1).optional(),
    max_completion_tokens: z.int().min(1).optional(),
    response_format: z.preprocess(boundText('response_format'), ResponseFormat.optional()),
    reasoning_effort: z.string().optional(),
    session_id: optionalText('session_id'),
    persona_id: optionalText('persona_id'),
    kb: optionalFlag('kb', true),
    n: z.literal(1, unsupportedValue('n')).optional(),
    modalities: z
      .array(z.string())
      .refine((kinds) => kinds.every((kind) => kind === 'text'), unsupportedValue('modalities'))
      .optional(),
    audio: refused('audio'),
    functions: refused('functions'),
    function_call: refused('function_call'),
  }),
)
export type CompletionRequest = z.output<typeof CompletionRequest>

/** The turn that the request asks for. Throws a 400 that names the field. */
export function turnOfCompletion(request: CompletionRequest, hasSession: boolean): TurnRequest {
  const names = { field: 'messages', callId: 'tool_call_id' }
  const said = request.messages.map(callerMessage)
  const { text, images, context, messages } = readConversation(said, names, hasSession)
  const { tools, tool_choice: choice, temperature = null, reasoning_effort: effort } = request
  return {
    text,
    images,
    kb: request.kb,
    persona_id: request.persona_id,
    conversation: {
      context,
      messages,
      temperature,
      thinking: effort === undefined ? null : effort !== 'none' && effort !== 'minimal',
      clientTools: tools.map(specOf),
      toolChoice:
        typeof choice === 'object' ? forced(choice.function.name, tools) : (choice ?? 'auto'),
      sampling: samplingOf(request),
      fallbackOnlyWhileSilent: request.stream,
    },
  }
}

function specOf({ function: tool }: z.output<typeof Tool>): ToolSpec {
  const { name, description, parameters, strict } = tool
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? NO_PARAMETERS,
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }
}

function forced(name: string, tools: CompletionRequest['tools']): ForcedTool {
  if (tools.some((tool) => tool.function.name === name)) return { name }
  throw appError('field_invalid', { field: 'tool_choice' }, { param: 'tool_choice' })
}

function samplingOf(request: CompletionRequest): Sampling {
  return {
    topP: request.top_p,
    presencePenalty: request.presence_penalty,
    frequencyPenalty: request.frequency_penalty,
    seed: request.seed,
    stop: request.stop,
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    responseFormat: request.response_format,
    parallelToolCalls: request.parallel_tool_calls,
  }
}

function callerMessage(message: Message, index: number): CallerMessage {
  const at = `messages[${index}]`
  switch (message.role) {
    case 'user':
      return { at, role: 'user', parts: partsOf(message.content) }
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ id, function: call }) => ({ id, ...call }))
      return { at, role: 'assistant', text: textOf(message.content ?? ''), calls }
    }
    case 'tool':
      return { at, role: 'tool', callId: message.tool_call_id, text: textOf(message.content) }
    default:
      return { at, role: 'system', text: textOf(message.content) }
  }
}

type Part = z.output<typeof TextPart | typeof ImagePart | typeof RefusalPart>

function partsOf(content: string | readonly Part[]): CallerPart[] {
  if (typeof content === 'string') return [content]
  return content.map((part) => {
    if (part.type === 'image_url') return { image: part.image_url.url }
    return part.type === 'text' ? part.text : part.refusal
  })
}

const textOf = (content: string | readonly Part[]): string =>
  partsOf(content)
    .filter((part) => typeof part === 'string')
    .join('\n')
