import { z } from 'zod'
import { CLIENT_TOOLS_MAX } from '../../core/limits/contract.ts'
import type { ToolCall } from '../../upstream/ports/llm.ts'
import type { CallerMessage, CallerPart } from '../shared/conversation.ts'
import { boundText, imageUrl, list, name, oneOf, text, unsupportedValue } from '../shared/fields.ts'
import { FileSource, fileIn } from '../shared/file-parts.ts'
import { argumentsOf, clientToolsOf, nameForModel, SEARCH_NAME, Tool } from './response-tools.ts'

/** The items of `input` in POST /v1/responses. */

const Part = z.lazy(() =>
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: text() }),
      z.object({ type: z.literal('input_image'), image_url: imageUrl }),
      z.object({ type: z.literal('input_file'), ...FileSource.shape }),
      z.object({ type: z.literal('refusal'), refusal: text() }),
    ],
    oneOf('type'),
  ),
)

/** Adds the type to a message or a reference, which may omit it. */
function typed(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || ('type' in item && item.type)) return item
  if ('role' in item) return { ...item, type: 'message' }
  return 'id' in item ? { ...item, type: 'item_reference' } : item
}

/**
 * Items that the model does not need, or whose tools are not run here: of earlier answers, and of
 * conversations that began at another server.
 */
const PASSED_OVER = [
  'reasoning',
  'file_search_call',
  'web_search_call',
  'image_generation_call',
  'code_interpreter_call',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'computer_call',
  'computer_call_output',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'compaction',
  'compaction_trigger',
] as const

const called = { call_id: name(), name: name(), namespace: name().nullish() }

/** `partsMax`: the parts of one message. */
export const itemSchema = (partsMax: number) => {
  const content = z.union([text(), list(Part, partsMax)])
  const kinds = [
    z.object({
      type: z.literal('message'),
      role: z.enum(['user', 'assistant', 'system', 'developer'], unsupportedValue('role')),
      content,
    }),
    z.object({ type: z.literal('function_call'), ...called, arguments: text() }),
    z.object({ type: z.literal('custom_tool_call'), ...called, input: text() }),
    z.object({
      type: z.enum(['function_call_output', 'custom_tool_call_output']),
      call_id: name(),
      output: content,
    }),
    z.object({
      type: z.literal('tool_search_call'),
      call_id: name().nullish(),
      arguments: z.unknown(),
    }),
    z.object({
      type: z.literal('tool_search_output'),
      call_id: name().nullish(),
      tools: z.preprocess(boundText('tools'), list(z.unknown(), CLIENT_TOOLS_MAX)),
    }),
    z.object({ type: z.literal('item_reference'), id: name() }),
    z.object({ type: z.enum(PASSED_OVER) }),
  ] as const
  return z.preprocess(typed, z.discriminatedUnion('type', kinds, oneOf('type')))
}
export type Item = z.output<ReturnType<typeof itemSchema>>
type Content = Extract<Item, { type: 'message' }>['content']

/** The tools that the client found and that the model may call from then on. */
export const foundTools = (items: readonly Item[]): Tool[] =>
  items.flatMap((item) => (item.type === 'tool_search_output' ? toolsIn(item.tools) : []))

const toolsIn = (given: readonly unknown[]): Tool[] =>
  given.flatMap((tool) => Tool.safeParse(tool).data ?? [])

/** A message and the results of its calls, which may come after other messages. */
interface Group {
  message: CallerMessage
  readonly results: CallerMessage[]
}

/**
 * Here calls and their results are items of their own; a `CallerMessage` has the calls in the
 * assistant's message before them, and the results follow it.
 */
export function callerMessages(items: readonly Item[]): CallerMessage[] {
  const groups: Group[] = []
  const openCalls = new Map<string, Group>()
  const add = (message: CallerMessage, results: CallerMessage[] = []): Group => {
    const group = { message, results }
    groups.push(group)
    return group
  }
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`
    const call = callIn(item)
    const result = resultIn(item, at)
    if (call) openCalls.set(call.id, addCall(groups, call, at))
    else if (result?.role === 'tool') {
      const group = openCalls.get(result.callId)
      openCalls.delete(result.callId)
      if (group) group.results.push(result)
      else add(result)
    } else if (item.type === 'message') add(messageOf(item, at))
  }
  return groups.flatMap(({ message, results }) => [message, ...results])
}

/** Adds the call to the assistant's message before it, or to an empty one of its own. */
function addCall(groups: Group[], call: ToolCall, at: string): Group {
  const last = groups.at(-1)
  if (last?.message.role === 'assistant' && last.results.length === 0) {
    last.message = { ...last.message, calls: [...last.message.calls, call] }
    return last
  }
  const group: Group = { message: { at, role: 'assistant', text: '', calls: [call] }, results: [] }
  groups.push(group)
  return group
}

function callIn(item: Item): ToolCall | null {
  switch (item.type) {
    case 'function_call':
      return { id: item.call_id, name: nameForModel(item), arguments: item.arguments }
    case 'custom_tool_call':
      return { id: item.call_id, name: nameForModel(item), arguments: argumentsOf(item.input) }
    case 'tool_search_call': {
      const args = JSON.stringify(item.arguments ?? {})
      return item.call_id ? { id: item.call_id, name: SEARCH_NAME, arguments: args } : null
    }
    default:
      return null
  }
}

function resultIn(item: Item, at: string): CallerMessage | null {
  if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
    return { at, role: 'tool', callId: item.call_id, text: textOf(item.output) }
  }
  if (item.type !== 'tool_search_output' || !item.call_id) return null
  const found = toolsIn(item.tools).flatMap(clientToolsOf)
  const names = found.map(({ spec }) => spec.name).join(', ')
  const text = names === '' ? 'No tools were found.' : `These tools can be called now: ${names}`
  return { at, role: 'tool', callId: item.call_id, text }
}

function messageOf(
  { role, content }: Extract<Item, { type: 'message' }>,
  at: string,
): CallerMessage {
  if (role === 'user') return { at, role, parts: partsOf(content, at) }
  if (role === 'assistant') return { at, role, text: textOf(content), calls: [] }
  return { at, role: 'system', text: textOf(content) }
}

function partsOf(content: Content, at = ''): CallerPart[] {
  if (typeof content === 'string') return [content]
  return content.map((part, index) => {
    if (part.type === 'input_file') return { file: fileIn(part, `${at}.content[${index}]`) }
    if (part.type === 'input_image') return { image: part.image_url }
    return part.type === 'refusal' ? part.refusal : part.text
  })
}

const textOf = (content: Content): string =>
  partsOf(content)
    .filter((part) => typeof part === 'string')
    .join('\n')
