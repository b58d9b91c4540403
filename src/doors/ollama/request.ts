import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { CLIENT_TOOLS_MAX } from '../../core/limits/contract.ts'
import {
  CHAT_PARTS_PER_MESSAGE,
  DOOR_MESSAGES_MAX,
  DOOR_TEXT_CHARS_MAX,
} from '../../core/limits/machine.ts'
import type { TurnRequest } from '../../features/agent/turn-config.ts'
import type { ResponseFormat } from '../../upstream/ports/llm.ts'
import { type CallerMessage, readConversation } from '../shared/conversation.ts'
import {
  bodyOf,
  boundMessages,
  boundText,
  formatOf,
  list,
  name,
  samplingFields,
  samplingOf,
  schemaObject,
  stopSequences,
  text,
} from '../shared/fields.ts'
import { choose, functionFields, specOf } from '../shared/tools.ts'
import { callerMessages, Message } from './messages.ts'

/** The bodies of POST /ollama/api/chat and /ollama/api/generate. */

const LIMITS = { messages: DOOR_MESSAGES_MAX, chars: DOOR_TEXT_CHARS_MAX }

const Options = bodyOf(() =>
  z.object({
    ...samplingFields,
    seed: z.int().optional(),
    stop: z.union([name(), stopSequences()]).optional(),
    num_predict: z.number().optional(),
  }),
)

const Format = z.lazy(() =>
  z
    .union([z.literal(''), z.literal('json'), schemaObject()], {
      error: issue('unsupported_value', { field: 'format' }),
    })
    .transform((format): ResponseFormat | undefined => {
      if (format === '') return undefined
      if (format === 'json') return { type: 'json_object' }
      return formatOf(format)
    }),
)

const shared = () => ({
  model: z.string().default(''),
  stream: z.boolean().default(true),
  options: Options.default({}),
  format: z.preprocess(boundText('format'), Format.optional()),
  think: z.union([z.boolean(), name()]).optional(),
  keep_alive: z.unknown().optional(),
})

const Tool = z.lazy(() => z.object({ function: z.object(functionFields) }))
const image = z.string()

export const ChatRequest = bodyOf(() =>
  z.object({
    ...shared(),
    messages: z
      .preprocess(boundMessages('messages', LIMITS), list(Message, DOOR_MESSAGES_MAX))
      .default([]),
    tools: z.preprocess(boundText('tools'), list(Tool, CLIENT_TOOLS_MAX)).default([]),
  }),
)

export const GenerateRequest = bodyOf(() =>
  z.object({
    ...shared(),
    prompt: text().default(''),
    system: text().default(''),
    images: list(image, CHAT_PARTS_PER_MESSAGE * DOOR_MESSAGES_MAX).default([]),
    suffix: z
      .literal('', { error: issue('unsupported_parameter', { field: 'suffix' }) })
      .optional(),
  }),
)
type GenerateRequest = z.output<typeof GenerateRequest>
type ChatRequest = z.output<typeof ChatRequest>

/** What both bodies ask for: a chat, of which a prompt is the shortest. */
export interface Asked extends Omit<ChatRequest, 'messages'> {
  readonly said: readonly CallerMessage[]
  readonly isChat: boolean
}

export const askedByChat = ({ messages, ...rest }: ChatRequest): Asked => ({
  ...rest,
  said: callerMessages(messages),
  isChat: true,
})

export function askedByPrompt({ prompt, system, images, ...rest }: GenerateRequest): Asked {
  const isEmpty = prompt === '' && images.length === 0
  const context = system === '' ? [] : [{ role: 'system' as const, content: system }]
  const messages = isEmpty ? [] : [...context, { role: 'user' as const, content: prompt, images }]
  return { ...rest, tools: [], said: callerMessages(messages), isChat: false }
}

/** Whether `keep_alive` asks to unload the model, which is in no memory of ours. */
export const isUnload = ({ keep_alive: given }: Asked): boolean =>
  given === 0 || /^-?0+[a-z]*$/.test(String(given))

/** The turn that the request asks for. Throws a 400. */
export function turnOf(asked: Asked, hasSession: boolean, kb: boolean): TurnRequest {
  const names = { field: 'messages', callId: 'tool_call_id' }
  const { options, think } = asked
  const { text, images, context, messages } = readConversation(
    asked.said,
    names,
    hasSession,
    LIMITS,
  )
  const specs = asked.tools.map((tool) => specOf(tool.function))
  const { num_predict: most = 0 } = options
  return {
    text,
    images,
    kb,
    conversation: {
      context,
      messages,
      ...choose('auto', specs),
      temperature: options.temperature ?? null,
      thinking: think === undefined ? null : think !== false,
      showThinking: think !== undefined && think !== false,
      sampling: {
        ...samplingOf(options),
        seed: options.seed,
        stop: options.stop,
        maxTokens: most >= 1 ? Math.floor(most) : undefined,
        responseFormat: asked.format,
      },
      fallbackOnlyWhileSilent: asked.stream,
    },
  }
}
