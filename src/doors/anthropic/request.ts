import { z } from 'zod'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import {
  CHAT_PARTS_PER_MESSAGE,
  DOOR_MESSAGES_MAX,
  DOOR_TEXT_CHARS_MAX,
  MESSAGE_TOOLS_MAX,
} from '../../core/limits/machine.ts'
import {
  bodyOf,
  boundMessages,
  boundText,
  list,
  name,
  refused,
  schemaObject,
  stopSequences,
  temperature,
  text,
  topP,
} from '../shared/fields.ts'

/** The bodies of POST /v1/messages and /v1/messages/count_tokens. */

export const LIMITS = { messages: DOOR_MESSAGES_MAX, chars: DOOR_TEXT_CHARS_MAX }

/** Before the estimate, which the refusal of a text that is too long tells. */
const EARLY_LIMITS = { messages: DOOR_MESSAGES_MAX, chars: AGENT_BODY_BYTES_MAX }

const BLOCKS_MAX = CHAT_PARTS_PER_MESSAGE * DOOR_MESSAGES_MAX

/** Tools of another `type` are run by Anthropic's servers. */
const Tool = z.lazy(() =>
  z.object({
    type: z.literal('custom').nullish(),
    name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
    description: text().nullish(),
    input_schema: schemaObject(),
  }),
)
export type Tool = z.output<typeof Tool>

const OtherTool = z.lazy(() =>
  z
    .looseObject({ type: z.string().refine((type) => type !== 'custom'), name: name().optional() })
    .transform(({ name }) => ({ name: name ?? '', isLeftOut: true as const })),
)

const ToolChoice = z.lazy(() =>
  z.object({
    type: z.enum(['auto', 'any', 'tool', 'none']),
    name: z.string().optional(),
    disable_parallel_tool_use: z.boolean().nullish(),
  }),
)

const counted = () => ({
  // First: a client whose wish is refused sends its whole history again.
  thread: refused('thread'),
  model: z.string().default(''),
  messages: z.preprocess(
    boundMessages('messages', EARLY_LIMITS),
    list(z.unknown(), DOOR_MESSAGES_MAX).pipe(z.array(z.unknown()).min(1)),
  ),
  system: z
    .union([text(), list(z.looseObject({ type: z.string(), text: text().optional() }), BLOCKS_MAX)])
    .default(''),
  tools: z
    .preprocess(boundText('tools'), list(z.union([Tool, OtherTool]), MESSAGE_TOOLS_MAX))
    .default([]),
  tool_choice: ToolChoice.default({ type: 'auto' }),
})

export const CountRequest = bodyOf(() => z.object(counted()))
export type CountRequest = z.output<typeof CountRequest>

export const MessageRequest = bodyOf(() =>
  z.object({
    ...counted(),
    max_tokens: z.int().min(1),
    stream: z.boolean().default(false),
    temperature,
    top_p: topP,
    stop_sequences: stopSequences().optional(),
    thinking: z.unknown().optional(),
    output_config: z.unknown().optional(),
  }),
)
export type MessageRequest = z.output<typeof MessageRequest>
