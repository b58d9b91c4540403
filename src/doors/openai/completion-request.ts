import { z } from 'zod'
import { narrowing, optionalFlag, optionalText } from '../../core/fields.ts'
import { CLIENT_TOOLS_MAX } from '../../core/limits/contract.ts'
import { CHAT_PARTS_PER_MESSAGE } from '../../core/limits/machine.ts'
import { subjectField } from '../../core/subject.ts'
import type { Sampling } from '../../upstream/ports/llm.ts'
import { type CallerMessage, type CallerPart, readConversation } from '../shared/conversation.ts'
import {
  answerSchema,
  bodyOf,
  boundMessages,
  boundText,
  type ChatLimits,
  imageUrl,
  list,
  name,
  oneOf,
  refused,
  sharedFields,
  sharedSampling,
  stopSequences,
  text,
  thinkingOf,
  unsupportedValue,
} from '../shared/fields.ts'
import { FileSource, fileIds, fileIn, type WantedTurn } from '../shared/file-parts.ts'
import { type Choice, choiceMode, choose, functionFields, specOf } from '../shared/tools.ts'

/** The body of POST /v1/chat/completions. */

const TextPart = z.lazy(() => z.object({ type: z.literal('text'), text: text() }))
const ImagePart = z.lazy(() =>
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: imageUrl }) }),
)
const FilePart = z.lazy(() => z.object({ type: z.literal('file'), file: FileSource }))
const RefusalPart = z.lazy(() => z.object({ type: z.literal('refusal'), refusal: text() }))

const Call = z.lazy(() =>
  z.object({
    id: name(),
    type: z.literal('function', unsupportedValue('type')),
    function: z.object({ name: name(), arguments: text() }),
  }),
)

/** `partsMax`: the parts of one message. */
const messageSchema = (partsMax: number) => {
  /** A text, or a list of parts of the given kinds. */
  const contentOf = <
    Kinds extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
  >(
    ...kinds: Kinds
  ) => z.union([text(), list(z.discriminatedUnion('type', kinds, oneOf('type')), partsMax)])
  const textContent = contentOf(TextPart)
  return z.discriminatedUnion(
    'role',
    [
      z.object({ role: z.literal('user'), content: contentOf(TextPart, ImagePart, FilePart) }),
      z.object({ role: z.enum(['system', 'developer']), content: textContent }),
      z.object({
        role: z.literal('assistant'),
        content: contentOf(TextPart, RefusalPart).nullish(),
        tool_calls: list(Call, CLIENT_TOOLS_MAX).nullish(),
      }),
      z.object({ role: z.literal('tool'), tool_call_id: name(), content: textContent }),
    ],
    oneOf('role'),
  )
}
type Message = z.output<ReturnType<typeof messageSchema>>

const Tool = z.lazy(() =>
  z.object({
    type: z.literal('function', unsupportedValue('type')),
    function: z.object(functionFields),
  }),
)

const Chosen = z.lazy(() =>
  z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
)

const ToolChoice = z.lazy(() =>
  z.union([
    z.enum(['auto', 'none', 'required']),
    Chosen,
    z.object({
      type: z.literal('allowed_tools'),
      allowed_tools: z.object({ mode: choiceMode, tools: list(Chosen, CLIENT_TOOLS_MAX) }),
    }),
  ]),
)

function choiceOf(choice: z.output<typeof ToolChoice>): Choice {
  if (typeof choice === 'string') return choice
  if (choice.type === 'function') return { name: choice.function.name }
  const { mode, tools } = choice.allowed_tools
  return { mode, names: tools.map((tool) => tool.function.name) }
}

const ResponseFormat = z.lazy(() =>
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.enum(['text', 'json_object']) }),
      z.object({
        type: z.literal('json_schema'),
        json_schema: z.object(answerSchema),
      }),
    ],
    oneOf('type'),
  ),
)

export const completionRequest = (limits: ChatLimits) =>
  bodyOf(() =>
    z.object({
      ...sharedFields,
      messages: z.preprocess(
        boundMessages('messages', limits),
        z
          .array(messageSchema(CHAT_PARTS_PER_MESSAGE * limits.messages))
          .min(1)
          .max(limits.messages),
      ),
      stream_options: z.object({ include_usage: z.boolean().nullish() }).optional(),
      tools: z.preprocess(boundText('tools'), list(Tool, CLIENT_TOOLS_MAX)).default([]),
      tool_choice: ToolChoice.default('auto'),
      seed: z.int().optional(),
      stop: z.union([name(), stopSequences()]).optional(),
      max_tokens: z.int().min(1).optional(),
      max_completion_tokens: z.int().min(1).optional(),
      response_format: z.preprocess(boundText('response_format'), ResponseFormat.optional()),
      reasoning_effort: z.string().optional(),
      session_id: optionalText('session_id'),
      subject: subjectField,
      persona_id: optionalText('persona_id'),
      files: fileIds,
      kb: optionalFlag('kb', true),
      collections: narrowing,
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
export type CompletionRequest = z.output<ReturnType<typeof completionRequest>>

/** The turn that the request asks for. Throws a 400 that names the field. */
export function turnOfCompletion(
  request: CompletionRequest,
  hasSession: boolean,
  limits: ChatLimits,
): WantedTurn {
  const names = { field: 'messages', callId: 'tool_call_id' }
  const said = request.messages.map(callerMessage)
  const { text, images, files, context, messages } = readConversation(
    ...([said, names, hasSession, limits] as const),
  )
  const specs = request.tools.map((tool) => specOf(tool.function))
  return {
    text,
    subject: request.subject,
    images,
    files: request.files,
    sentFiles: files,
    kb: request.kb,
    collections: request.collections,
    persona_id: request.persona_id,
    conversation: {
      context,
      messages,
      temperature: request.temperature ?? null,
      thinking: thinkingOf(request.reasoning_effort),
      showThinking: true,
      ...choose(choiceOf(request.tool_choice), specs),
      sampling: samplingOf(request),
      fallbackOnlyWhileSilent: request.stream,
    },
  }
}

const samplingOf = (request: CompletionRequest): Sampling => ({
  ...sharedSampling(request),
  seed: request.seed,
  stop: request.stop,
  maxTokens: request.max_completion_tokens ?? request.max_tokens,
  responseFormat: request.response_format,
})

function callerMessage(message: Message, index: number): CallerMessage {
  const at = `messages[${index}]`
  switch (message.role) {
    case 'user':
      return { at, role: 'user', parts: partsOf(message.content, at) }
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

type ContentPart = z.output<
  typeof TextPart | typeof ImagePart | typeof FilePart | typeof RefusalPart
>

function partsOf(content: string | readonly ContentPart[], at = ''): CallerPart[] {
  if (typeof content === 'string') return [content]
  return content.map((part, index) => {
    if (part.type === 'file') return { file: fileIn(part.file, `${at}.content[${index}].file`) }
    if (part.type === 'image_url') return { image: part.image_url.url }
    return part.type === 'text' ? part.text : part.refusal
  })
}

const textOf = (content: string | readonly ContentPart[]): string =>
  partsOf(content)
    .filter((part) => typeof part === 'string')
    .join('\n')
