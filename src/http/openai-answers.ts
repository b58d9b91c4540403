import type { ErrorStatus } from '../core/error-table.ts'
import { AppError, type ErrorCode, internalError } from '../core/errors.ts'
import { pulledStream } from '../core/large-bytes.ts'

/**
 * The paths that clients of OpenAI's API call, and those of its paths that are not offered here.
 * They alone answer errors as JSON; all others answer a sentence.
 */
const PATHS: ReadonlySet<string> = new Set([
  '/v1/embeddings',
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/completions',
  '/v1/moderations',
])
const FOLDERS = new RegExp(
  `^/v1/(?:${[
    ...['models', 'chat/completions', 'responses', 'conversations', 'images', 'videos'],
    ...['uploads', 'batches', 'vector_stores', 'assistants', 'threads', 'realtime', 'containers'],
    ...['fine_tuning', 'evals'],
  ].join('|')})(?:/|$)`,
)

/** Whether errors of this path are JSON. Takes a path of a request or of the API document. */
export const isOpenAiPath = (path: string): boolean =>
  PATHS.has(path.replace(/\/$/, '')) || FOLDERS.test(path)

/** The path of a request's URL, which begins after its third slash. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', 8)
  const end = url.indexOf('?', start)
  return start < 0 ? '/' : url.slice(start, end < 0 ? undefined : end)
}

/** `type` and `code` by status, where the error's own code has no row below. */
const BY_STATUS: Readonly<Record<ErrorStatus, readonly [type: string, code: string | null]>> = {
  400: ['invalid_request_error', null],
  401: ['authentication_error', 'invalid_api_key'],
  403: ['permission_error', 'forbidden'],
  404: ['invalid_request_error', 'not_found'],
  405: ['invalid_request_error', 'method_not_allowed'],
  409: ['invalid_request_error', null],
  410: ['invalid_request_error', null],
  413: ['invalid_request_error', 'request_too_large'],
  415: ['invalid_request_error', null],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
  500: ['server_error', null],
  502: ['upstream_error', 'upstream_5xx'],
  503: ['server_error', 'overloaded'],
}

/** Codes of ours that are the same in OpenAI's API. */
const SAME_WORD: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unsupported_value',
  'unsupported_parameter',
  'context_length_exceeded',
  'model_not_found',
])

/** Codes of OpenAI's API for codes of ours, where the one of the status is too general. */
const BY_CODE: Partial<Readonly<Record<ErrorCode, string>>> = {
  input_token_ids: 'unsupported_value',
  budget_spent: 'insufficient_quota',
  item_not_kept: 'unsupported_value',
  speech_format: 'unsupported_value',
  model_context_exceeded: 'context_length_exceeded',
  model_tools_refused: 'upstream_4xx',
  model_retry_exhausted: 'retry_exhausted',
  model_upstream_4xx: 'upstream_4xx',
  model_upstream_5xx: 'upstream_5xx',
  model_channel_unavailable: 'channel_unavailable',
  model_provider_error: 'provider_error',
  tts_not_configured: 'channel_unavailable',
  asr_not_configured: 'channel_unavailable',
}

export interface OpenAiErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    /** The wrong field, such as `messages[2].content[0].type`. */
    readonly param: string | null
    readonly code: string | null
  }
}

/** The error as OpenAI's clients read it; also the last frame of a stream. */
export function openAiError({ status, code, message, params, details }: AppError): OpenAiErrorBody {
  const [type, general] = BY_STATUS[status]
  const own = SAME_WORD.has(code) ? code : (details.openAiCode ?? BY_CODE[code])
  const field = status === 400 && params.field !== undefined ? String(params.field) : null
  return { error: { message, type, param: details.param ?? field, code: own ?? general } }
}

/**
 * Headers of an error on these paths. Clients retry 408, 409, 429 and every 5xx. They are told not
 * to when a model was called, which would be paid for twice, and when a budget is spent, which
 * lasts until midnight.
 */
export function openAiErrorHeaders({ status, code }: AppError): Record<string, string> {
  const headers = { 'content-type': 'application/json' }
  if (status === 503) return { ...headers, 'retry-after': '1' }
  const isFinal = status === 502 || code === 'turn_failed' || code === 'budget_spent'
  return isFinal ? { ...headers, 'x-should-retry': 'false' } : headers
}

/** A frame, sent as JSON. It has its own `type`, because there are no `event:` lines. */
export type OpenAiFrame = Readonly<Record<string, unknown>>

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

const frame = (data: string): Uint8Array => Buffer.from(`data: ${data}\n\n`)

async function* framesOf(events: AsyncIterable<OpenAiFrame>): AsyncGenerator<Uint8Array> {
  try {
    for await (const event of events) yield frame(JSON.stringify(event))
    yield frame('[DONE]')
  } catch (error) {
    const said = error instanceof AppError ? error : internalError(error)
    yield frame(JSON.stringify(openAiError(said)))
  }
}

/**
 * Streams the events and then `[DONE]`. After a failure an error is the last frame instead, because
 * the status was sent already. `onLeave` is called when the client leaves early.
 */
export const openAiStream = (events: AsyncIterable<OpenAiFrame>, onLeave: () => void): Response =>
  new Response(pulledStream(framesOf(events), onLeave), { headers: HEADERS })
