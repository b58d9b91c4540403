import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { CLIENT_TOOLS_MAX } from '../../core/limits/contract.ts'
import { CHAT_PARTS_PER_MESSAGE } from '../../core/limits/machine.ts'
import { subjectField } from '../../core/subject.ts'
import type { ResponseFormat } from '../../upstream/ports/llm.ts'
import { type CallerMessage, readConversation } from '../shared/conversation.ts'
import {
  answerSchema,
  bodyOf,
  boundMessages,
  boundText,
  type ChatLimits,
  list,
  name,
  oneOf,
  refused,
  sharedFields,
  sharedSampling,
  text,
  thinkingOf,
  unsupportedValue,
} from '../shared/fields.ts'
import { fileIds, type WantedTurn } from '../shared/file-parts.ts'
import { choose } from '../shared/tools.ts'
import { callerMessages, foundTools, type Item, itemSchema } from './response-items.ts'
import {
  type ClientTool,
  choiceOf,
  clientToolsOf,
  searchedIn,
  Tool,
  ToolChoice,
} from './response-tools.ts'

/** The body of POST /v1/responses. */

const Format = z.lazy(() =>
  z.discriminatedUnion(
    'type',
    [
      z.object({ type: z.enum(['text', 'json_object']) }),
      z.object({ type: z.literal('json_schema'), ...answerSchema }),
    ],
    oneOf('type'),
  ),
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

export const responseRequest = (limits: ChatLimits) =>
  bodyOf(() =>
    z.object({
      ...sharedFields,
      input: z.preprocess(
        boundMessages('input', limits),
        z.union([
          text(),
          z.array(itemSchema(CHAT_PARTS_PER_MESSAGE * limits.messages)).max(limits.messages),
        ]),
      ),
      instructions: text()
        .max(2 * limits.chars)
        .default(''),
      tools: z.preprocess(boundText('tools'), list(Tool, CLIENT_TOOLS_MAX)).default([]),
      tool_choice: ToolChoice.default('auto'),
      text: z
        .object({ format: z.preprocess(boundText('text'), Format.nullish()) })
        .default({ format: null }),
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
      subject: subjectField,
      conversation: z.union([z.string(), z.object({ id: z.string() })]).optional(),
      files: fileIds,
      background: z.literal(false, unsupportedValue('background')).optional(),
      previous_response_id: refused('previous_response_id（请改用 conversation）'),
      prompt: refused('prompt'),
    }),
  )
export type ResponseRequest = z.output<ReturnType<typeof responseRequest>>

/** The session that the body names. */
export const conversationId = ({ conversation }: ResponseRequest): string | undefined =>
  typeof conversation === 'object' ? conversation.id : conversation

/** The tools that the client may be told to call: those of the request, and those it has found. */
export function clientToolsIn({ tools, input }: ResponseRequest): readonly ClientTool[] {
  const found = typeof input === 'string' ? [] : foundTools(input)
  const all = [...tools, ...found].flatMap(clientToolsOf)
  // Of two with the same name the client's list has precedence over what it found.
  return [...new Map(all.toReversed().map((tool) => [tool.spec.name, tool])).values()].reverse()
}

/** The turn that the request asks for. Throws a 400 that names the field. */
export function turnOfResponse(
  request: ResponseRequest,
  clientTools: readonly ClientTool[],
  hasSession: boolean,
  limits: ChatLimits,
): WantedTurn {
  const { instructions, tools } = request
  const opening: readonly CallerMessage[] =
    instructions === '' ? [] : [{ at: 'instructions', role: 'system', text: instructions }]
  const said = [...opening, ...spoken(request.input)]
  const names = { field: 'input', callId: 'call_id' }
  const { text, images, files, context, messages } = readConversation(
    ...([said, names, hasSession, limits] as const),
  )
  const specs = clientTools.map(({ spec }) => spec)
  return {
    text,
    subject: request.subject,
    images,
    files: request.files,
    sentFiles: files,
    kb: tools.some(({ type }) => type === 'file_search'),
    collections: searchedIn(tools),
    conversation: {
      context,
      messages,
      temperature: request.temperature ?? null,
      thinking: thinkingOf(request.reasoning?.effort),
      showThinking: false,
      ...choose(choiceOf(request.tool_choice), specs),
      sampling: {
        ...sharedSampling(request),
        maxTokens: request.max_output_tokens,
        responseFormat: formatOf(request.text.format),
      },
      fallbackOnlyWhileSilent: request.stream,
    },
  }
}

const spoken = (input: string | readonly Item[]): readonly CallerMessage[] =>
  typeof input === 'string'
    ? [{ at: 'input', role: 'user', parts: [input] }]
    : callerMessages(input)

/** Here the schema is beside its name; in chat completions it is one level deeper. */
function formatOf(format: Format | null | undefined): ResponseFormat | undefined {
  if (!format) return undefined
  const { type, ...schema } = format
  return type === 'json_schema' ? { type, json_schema: schema } : { type }
}
