import { KB_HITS_MAX, KB_SCORE_MIN } from '../../core/limits/contract.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { ResponseRequest } from './response-request.ts'
import { isHosted } from './response-tools.ts'

export interface OutputText {
  readonly type: 'output_text'
  readonly text: string
  readonly annotations: readonly object[]
  readonly logprobs: readonly never[]
}

type Status = 'in_progress' | 'completed' | 'incomplete'

export type OutputItem =
  | {
      readonly type: 'message'
      readonly id: string
      readonly status: Status
      readonly role: 'assistant'
      readonly content: readonly OutputText[]
    }
  | {
      readonly type: 'function_call'
      readonly id: string
      readonly call_id: string
      readonly name: string
      /** Where the tool is one of a namespace. */
      readonly namespace?: string
      readonly arguments: string
      readonly status: Status
    }
  | {
      readonly type: 'custom_tool_call'
      readonly id: string
      readonly call_id: string
      readonly name: string
      readonly namespace?: string
      readonly input: string
      readonly status: Status
    }
  | {
      readonly type: 'tool_search_call'
      readonly id: string
      readonly call_id: string
      readonly execution: 'client'
      readonly arguments: Readonly<Record<string, unknown>>
      readonly status: Status
    }
  | {
      readonly type: 'file_search_call'
      readonly id: string
      readonly status: Status
      readonly queries: readonly string[]
      readonly results: null
    }

/** The fields of a response that are known before the model answers. */
export interface ResponseHead {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  /** The address of the console, where sources are shown. */
  readonly site: string
  /** Null when nothing is remembered. */
  readonly sessionId: string | null
}

/** The fields of a response that are known at its end. */
export interface ResponseEnd {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output?: readonly OutputItem[]
  readonly answer?: ModelAnswer
  readonly error?: { readonly code: string; readonly message: string }
  readonly completedAt?: number
  readonly moonbase?: object
}

/** Every field that the standard requires is there; most repeat the request. */
export function responseOf(request: ResponseRequest, head: ResponseHead, end: ResponseEnd) {
  const { id, created, model, sessionId } = head
  const { status, output = [], answer, error = null, completedAt = null, moonbase } = end
  return {
    id,
    object: 'response',
    created_at: created,
    completed_at: status === 'completed' ? completedAt : null,
    status,
    incomplete_details: status === 'incomplete' && answer ? { reason: reasonOf(answer) } : null,
    model,
    previous_response_id: null,
    instructions: request.instructions || null,
    output,
    error,
    ...settingsOf(request),
    usage: answer ? usageOf(answer) : null,
    store: sessionId !== null,
    background: false,
    service_tier: 'default',
    ...(sessionId === null ? {} : { conversation: { id: sessionId } }),
    ...(moonbase ? { moonbase } : {}),
  }
}

/** The fields that repeat the request, or state the default. */
function settingsOf(request: ResponseRequest) {
  const { reasoning } = request
  return {
    tools: request.tools.filter((tool) => !isHosted(tool)).map(toolOf),
    tool_choice: request.tool_choice,
    truncation: request.truncation,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    text: { format: formatOf(request) },
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    top_logprobs: 0,
    temperature: request.temperature ?? 1,
    reasoning: reasoning ? { effort: reasoning.effort ?? null, summary: null } : null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata,
    user: request.user ?? null,
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
  }
}

/** Fields that a request may leave out are null in the answer. */
function toolOf(tool: ResponseRequest['tools'][number]) {
  if (tool.type === 'function') {
    const { type, name, description = null, parameters = null, strict = null } = tool
    return { type, name, description, parameters, strict }
  }
  if (tool.type !== 'file_search') return tool
  return {
    ...tool,
    max_num_results: KB_HITS_MAX,
    ranking_options: { ranker: 'auto', score_threshold: KB_SCORE_MIN },
    filters: null,
  }
}

function formatOf({ text: { format } }: ResponseRequest) {
  if (format?.type !== 'json_schema') return format ?? { type: 'text' }
  const { type, name, description = null, schema = null, strict } = format
  return { type, name, description, schema, strict: strict ?? false }
}

const usageOf = ({ usage: { inputTokens, outputTokens } }: ModelAnswer) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: inputTokens + outputTokens,
})

/** Why an answer was cut; null when it is complete. */
export function reasonOf({ finish }: ModelAnswer): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length') return 'max_output_tokens'
  return finish === 'content_filter' ? finish : null
}
