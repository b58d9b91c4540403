import { z } from 'zod'
import { appError } from '../../core/errors.ts'
import { CLIENT_TOOLS_MAX } from '../../core/limits/contract.ts'
import { CHAT_PARTS_PER_MESSAGE, DOOR_MESSAGES_MAX } from '../../core/limits/machine.ts'
import { checkImage } from '../../upstream/egress/images.ts'
import type { ToolCall } from '../../upstream/ports/llm.ts'
import type { CallerMessage } from '../shared/conversation.ts'
import { bodyOf, list, name, schemaObject, text } from '../shared/fields.ts'

const Call = z.lazy(() =>
  z.looseObject({
    id: name().nullish(),
    function: z.looseObject({ name: name(), arguments: schemaObject().nullish() }),
  }),
)

export const Message = bodyOf(() =>
  z.object({
    role: z.enum(['system', 'user', 'assistant', 'tool']),
    content: text().default(''),
    images: list(z.string(), CHAT_PARTS_PER_MESSAGE * DOOR_MESSAGES_MAX).optional(),
    tool_calls: list(Call, CLIENT_TOOLS_MAX).optional(),
    tool_call_id: name().optional(),
    tool_name: name().optional(),
  }),
)
type Message = Omit<Partial<z.output<typeof Message>>, 'role' | 'content'> &
  Pick<z.output<typeof Message>, 'role' | 'content'>

/** First bytes of the kinds of image, in base64. */
const KINDS = [
  ['png', /^iVBORw0KG/],
  ['jpeg', /^\/9j\//],
  ['gif', /^R0lGOD/],
  ['webp', /^UklGR.{6}XRUJQ/],
] as const

function imageOf(data: string, at: string): string {
  const kind = KINDS.find(([, first]) => first.test(data))?.[0]
  const url = `data:image/${kind};base64,${data}`
  if (kind !== undefined && checkImage(url) === null) return url
  throw appError('field_invalid', { field: 'images' }, { param: `${at}.images` })
}

/**
 * The messages as a turn knows them. A result may name its call by id or by the name of the tool,
 * or not at all; one whose call was cut off from the history is told as a text.
 */
export function callerMessages(messages: readonly Message[]): CallerMessage[] {
  let open: readonly ToolCall[] = []
  return messages.map((message, index): CallerMessage => {
    const at = `messages[${index}]`
    const { role, content } = message
    if (role === 'system') return { at, role, text: content }
    if (role === 'user') {
      open = []
      const images = (message.images ?? []).map((data) => ({ image: imageOf(data, at) }))
      return { at, role, parts: [content, ...images] }
    }
    if (role === 'assistant') {
      open = callsOf(message, index)
      return { at, role, text: content, calls: open }
    }
    const call =
      open.find(({ id }) => id === message.tool_call_id) ??
      open.find((one) => one.name === message.tool_name) ??
      open[0]
    if (!call) return { at, role: 'user', parts: [{ reminder: content }] }
    open = open.filter((one) => one !== call)
    return { at, role, callId: call.id, text: content }
  })
}

const callsOf = ({ tool_calls: calls = [] }: Message, index: number): ToolCall[] =>
  calls.map(({ id, function: called }, at) => ({
    id: id || `call_${index}_${at}`,
    name: called.name,
    arguments: JSON.stringify(called.arguments ?? {}),
  }))
