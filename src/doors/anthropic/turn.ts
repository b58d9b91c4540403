import { AppError, appError } from '../../core/errors.ts'
import { charCount, estimateTokens } from '../../core/text.ts'
import type { TurnRequest } from '../../features/agent/turn-config.ts'
import type { ResponseFormat, ToolSpec } from '../../upstream/ports/llm.ts'
import { type CallerMessage, readConversation, textsOf } from '../shared/conversation.ts'
import { formatOf, isLongerThan } from '../shared/fields.ts'
import { type Choice, choose } from '../shared/tools.ts'
import { isObject, type PdfTexts } from './blocks.ts'
import { callerMessages } from './messages.ts'
import { type CountRequest, LIMITS, type MessageRequest, type Tool } from './request.ts'

/** A request whose messages were read. */
export interface ReadRequest {
  readonly said: readonly CallerMessage[]
  readonly system: string
  readonly tools: readonly ToolSpec[]
  /** The estimate of all that is sent to the model; at least 1. */
  readonly tokens: number
}

export function readRequest(input: CountRequest, pdfs: PdfTexts): ReadRequest {
  const said = callerMessages(input.messages, pdfs)
  const system = systemOf(input.system)
  const tools = input.tools.flatMap((tool) => ('isLeftOut' in tool ? [] : [specOf(tool)]))
  const calls = said.flatMap((one) => (one.role === 'assistant' ? one.calls : []))
  const texts = [system, ...said.flatMap(textsOf), ...calls.map(({ name }) => name)]
  const shown = tools.length === 0 ? [] : [JSON.stringify(tools)]
  return { said, system, tools, tokens: Math.max(1, estimateTokens([...texts, ...shown])) }
}

/** What a turn checks of messages, tools and choice. */
export function checkedParts(
  input: CountRequest,
  { said, system, tools }: ReadRequest,
  hasSession: boolean,
) {
  const names = { field: 'messages', callId: 'tool_use_id' }
  const limits = { ...LIMITS, chars: LIMITS.chars - charCount(system) }
  const conversation = readConversation(said, names, hasSession, limits)
  return { ...conversation, ...choose(choiceOf(input, tools), tools) }
}

export interface TurnOptions {
  readonly hasSession: boolean
  readonly kb: boolean
  /** Whether the tenant itself answers, and none of its apps. */
  readonly isTenant: boolean
}

/** The turn that the request asks for. Throws a 400. */
export function turnOfMessages(
  input: MessageRequest,
  read: ReadRequest,
  { hasSession, kb, isTenant }: TurnOptions,
): TurnRequest {
  const { text, images, messages, clientTools, toolChoice } = checkedParts(input, read, hasSession)
  // A coding agent brings its own tools and knows what it looks for.
  const isAlone = isTenant && input.tools.length > 0
  const thinking = thinkingOf(input.thinking)
  return {
    text,
    images,
    kb: kb && !isAlone,
    conversation: {
      context: read.system,
      messages,
      clientTools,
      toolChoice,
      thinking,
      temperature: input.temperature ?? null,
      showThinking: thinking === true,
      isWithoutOurTools: isAlone,
      sampling: {
        topP: input.top_p,
        stop: input.stop_sequences,
        maxTokens: input.max_tokens,
        maxTokensAtWill: true,
        responseFormat: outputFormat(input.output_config),
        parallelToolCalls: input.tool_choice.disable_parallel_tool_use ? false : undefined,
      },
      fallbackOnlyWhileSilent: input.stream,
    },
  }
}

/** Clients begin to shorten the conversation when they read these words. */
export function inTheirWords(error: unknown, estimate: number): unknown {
  const isOurs = error instanceof AppError
  if (!isOurs || !TOO_LONG.has(error.code)) return error
  const { input = estimate, output = null, max = 0 } = error.details.tokens ?? {}
  // Fewer tokens of the answer help where the messages alone would fit.
  const said =
    output === null || input >= max
      ? `prompt is too long: ${input} tokens > ${max} maximum`
      : `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${max}`
  return new AppError(error.code, error.params, { ...error.details, said })
}

const TOO_LONG = new Set<string>(['context_length_exceeded', 'model_context_exceeded'])

const systemOf = (system: CountRequest['system']): string =>
  typeof system === 'string'
    ? system
    : system.flatMap(({ type, text }) => (type === 'text' ? (text ?? '') : [])).join('\n')

const specOf = ({ name, description, input_schema }: Tool): ToolSpec => ({
  name,
  description: description ?? '',
  parameters: { type: 'object', properties: {}, ...input_schema },
})

/** A tool that was left out cannot be forced: the model decides. */
function choiceOf({ tool_choice: choice, tools }: CountRequest, own: readonly ToolSpec[]): Choice {
  if (choice.type === 'any') return own.length > 0 ? 'required' : 'auto'
  if (choice.type !== 'tool') return choice.type
  const { name = '' } = choice
  if (own.some((tool) => tool.name === name)) return { name }
  if (tools.some((tool) => tool.name === name)) return 'auto'
  throw appError('field_invalid', { field: 'tool_choice' }, { param: 'tool_choice' })
}

/** Null where the request does not say, or in words that are not known. */
function thinkingOf(given: unknown): boolean | null {
  const type = isObject(given) ? given.type : null
  if (type === 'enabled' || type === 'adaptive') return true
  return type === 'disabled' ? false : null
}

const FORMAT_UNITS_MAX = 512 * 1024

function outputFormat(config: unknown): ResponseFormat | undefined {
  const format = isObject(config) ? config.format : null
  if (!isObject(format) || format.type !== 'json_schema' || !isObject(format.schema))
    return undefined
  if (isLongerThan(format.schema, FORMAT_UNITS_MAX)) {
    throw appError('field_too_long', { field: 'output_config', max: FORMAT_UNITS_MAX })
  }
  return formatOf(format.schema)
}
