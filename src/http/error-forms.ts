import type { ErrorStatus } from '../core/error-table.ts'
import type { AppError } from '../core/errors.ts'
import { isOllamaPath } from './ollama-path.ts'
import { isOpenAiPath, openAiError, openAiErrorHeaders, pathOf } from './openai-answers.ts'

/** How a path answers errors to the clients of the API that it speaks. */
interface ErrorForm {
  readonly headers: (error: AppError) => Record<string, string>
  readonly body: (error: AppError, requestId: string) => object
}

const ANTHROPIC_TYPES: Readonly<Record<ErrorStatus, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'invalid_request_error',
  410: 'invalid_request_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
}

const MESSAGE_CHARS_MAX = 200

const saidOf = ({ details, message }: AppError) =>
  [...(details.said ?? message)].slice(0, MESSAGE_CHARS_MAX).join('')

/** An error as Anthropic's clients read it; also the last event of a stream. */
export function anthropicError(error: AppError, requestId: string) {
  const details = isThreadRefusal(error) ? { details: THREAD_UNSUPPORTED } : {}
  return {
    type: 'error',
    error: { type: ANTHROPIC_TYPES[error.status], message: saidOf(error), ...details },
    request_id: requestId,
  }
}

/** By these words the SDK learns to send the whole history again. */
const THREAD_UNSUPPORTED = {
  error_code: 'thread_unsupported_request',
  unsupported: ['thread'],
}
const isThreadRefusal = ({ code, params }: AppError) =>
  code === 'unsupported_parameter' && params.field === 'thread'

/** An error as clients of Ollama read it; also the last line of a stream. */
export const ollamaError = (error: AppError) => ({ error: saidOf(error) })

const ANTHROPIC: ErrorForm = { headers: openAiErrorHeaders, body: anthropicError }
const OLLAMA: ErrorForm = { headers: openAiErrorHeaders, body: ollamaError }
const OPENAI: ErrorForm = { headers: openAiErrorHeaders, body: openAiError }

const MESSAGES = /^\/v1\/messages(?:\/|$)/
const MODELS = /^\/v1\/models(?:\/|$)/

/** Whether a request is one of Anthropic's API. OpenAI's has the same path of models. */
export function isAnthropic(request: Request): boolean {
  const path = pathOf(request.url)
  return MESSAGES.test(path) || (MODELS.test(path) && isOfAnthropicClient(request))
}

/** Clients of OpenAI's API send neither. */
const isOfAnthropicClient = ({ headers, url }: Request): boolean =>
  headers.has('anthropic-version') || /[?&]limit(?:=|&|$)/.test(url)

/** Whether errors of this path are JSON. Takes a path of a request or of the API document. */
export const hasJsonErrors = (path: string): boolean =>
  MESSAGES.test(path) || isOllamaPath(path) || isOpenAiPath(path)

/** Null where an error is a sentence. */
export function errorFormOf(request: Request): ErrorForm | null {
  if (isAnthropic(request)) return ANTHROPIC
  const path = pathOf(request.url)
  if (isOllamaPath(path)) return OLLAMA
  return isOpenAiPath(path) ? OPENAI : null
}
