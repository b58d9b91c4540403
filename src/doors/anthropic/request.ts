import { z } from 'zod'
import { appError } from '../../core/errors.ts'
import { STOP_SEQUENCES_MAX, TEMPERATURE_MAX } from '../../core/limits/contract.ts'
import {
  CHAT_PARTS_PER_MESSAGE,
  DOOR_MESSAGES_MAX,
  DOOR_TEXT_CHARS_MAX,
  MESSAGE_TOOLS_MAX,
} from '../../core/limits/machine.ts'
import {
  bodyOf,
  boundText,
  type ChatLimits,
  isLongerThan,
  list,
  name,
  refused,
  schemaObject,
  text,
} from '../shared/fields.ts'
import { isObject } from './blocks.ts'

/** The bodies of POST /v1/messages and /v1/messages/count_tokens. */

export const LIMITS: ChatLimits = { messages: DOOR_MESSAGES_MAX, chars: DOOR_TEXT_CHARS_MAX }

const BLOCKS_MAX = CHAT_PARTS_PER_MESSAGE * DOOR_MESSAGES_MAX

/** Tools of another `type` are run by Anthropic's servers. */
const Tool = z.object({
  type: z.literal('custom').nullish(),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  description: text().nullish(),
  input_schema: schemaObject(),
})
export type Tool = z.output<typeof Tool>

const OtherTool = z
  .looseObject({ type: z.string().refine((type) => type !== 'custom'), name: name().optional() })
  .transform(({ name }) => ({ name: name ?? '', isLeftOut: true as const }))

const ToolChoice = z.object({
  type: z.enum(['auto', 'any', 'tool', 'none']),
  name: z.string().optional(),
  disable_parallel_tool_use: z.boolean().nullish(),
})

/** Limits what is read of messages before it is read; their texts are counted exactly later. */
function boundBlocks(messages: unknown): unknown {
  if (!Array.isArray(messages) || messages.length > DOOR_MESSAGES_MAX) return messages
  let blocks = 0
  let units = 0
  const look = (content: unknown): void => {
    if (typeof content === 'string') units += content.length
    if (!Array.isArray(content)) return
    blocks += content.length
    if (blocks > BLOCKS_MAX) throw appError('field_too_big', { field: 'messages', max: BLOCKS_MAX })
    for (const block of content) {
      if (!isObject(block)) continue
      if (typeof block.text === 'string') units += block.text.length
      if (isLongerThan(block.input, DOOR_TEXT_CHARS_MAX)) units += 2 * DOOR_TEXT_CHARS_MAX + 1
      look(block.content)
    }
  }
  for (const message of messages) if (isObject(message)) look(message.content)
  if (units <= 2 * DOOR_TEXT_CHARS_MAX) return messages
  throw appError('context_length_exceeded', { field: 'messages', max: DOOR_TEXT_CHARS_MAX })
}

const counted = {
  // First: a client whose wish is refused sends its whole history again.
  thread: refused('thread'),
  model: z.string().default(''),
  messages: z.preprocess(
    boundBlocks,
    list(z.unknown(), DOOR_MESSAGES_MAX).pipe(z.array(z.unknown()).min(1)),
  ),
  system: z
    .union([text(), list(z.looseObject({ type: z.string(), text: text().optional() }), BLOCKS_MAX)])
    .default(''),
  tools: z
    .preprocess(boundText('tools'), list(z.union([Tool, OtherTool]), MESSAGE_TOOLS_MAX))
    .default([]),
  tool_choice: ToolChoice.default({ type: 'auto' }),
}

export const CountRequest = bodyOf(z.object(counted))
export type CountRequest = z.output<typeof CountRequest>

export const MessageRequest = bodyOf(
  z.object({
    ...counted,
    max_tokens: z.int().min(1),
    stream: z.boolean().default(false),
    temperature: z.number().min(0).max(TEMPERATURE_MAX).optional(),
    top_p: z.number().min(0).max(1).optional(),
    stop_sequences: list(name(), STOP_SEQUENCES_MAX).optional(),
    thinking: z.unknown().optional(),
    output_config: z.unknown().optional(),
  }),
)
export type MessageRequest = z.output<typeof MessageRequest>
