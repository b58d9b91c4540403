import { orAborted } from '../../core/abort.ts'
import { UPSTREAM_ERROR_BYTES_MAX } from '../../core/limits/upstream.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { contextRefusal } from './context-refusal.ts'
import { saidIn } from './said.ts'
import { readStart } from './upstream-call.ts'

/** An answer other than 2xx. */
export interface HttpFailure {
  readonly failure: ChannelFailure
  /** Start of the body of a 400, 404 or 422, to search for known words; must not be passed on. */
  readonly text: string
}

const TOOL_WORDS = /\btool|\bfunction|工具|函数/i
/** What is wrong is the order of messages, calls and results, not that there are tools. */
const HISTORY_WORDS = /tool_call_id|tool message|tool_calls['"`]? must|role ['"`]?tool\b/i
const EXPLAINED = [400, 404, 422]

/**
 * Sorts an answer other than 2xx. A redirect is not followed and counts as a fault of the
 * upstream. Never rejects.
 */
export async function httpFailure(
  response: Response,
  now: number,
  apiKey = '',
): Promise<HttpFailure> {
  const { status } = response
  const body = await explanation(response)
  const text = EXPLAINED.includes(status) ? body : ''
  const said = apiKey === '' ? saidIn(body) : saidIn(body).replaceAll(apiKey, '…')
  const refusal = contextRefusal(text)
  const { contextExceeded } = refusal
  const phrase = `HTTP ${status}${contextExceeded ? ', the prompt is longer than the context' : ''}`
  const retryAfterMs = retryAfter(response.headers.get('retry-after'), now)
  const wait = retryAfterMs === null ? {} : { retryAfterMs }
  const fail = (reason: ChannelFailure['reason'], details: object) => ({
    failure: new ChannelFailure(reason, phrase, { status, said, ...details }),
    text,
  })
  if (status === 408 || status === 429) {
    return fail('retry_exhausted', { retryable: true, ...wait })
  }
  if (status >= 500) return fail('upstream_5xx', { retryable: true, ...wait })
  if (status < 400) return fail('provider_error', {})
  const isOther = status === 404 || contextExceeded || HISTORY_WORDS.test(text)
  const toolsRefused = !isOther && TOOL_WORDS.test(text)
  return fail('upstream_4xx', { toolsRefused, ...refusal })
}

/** How long the next attempt waits for the words of a failure that they do not explain. */
const WORDS_MS_MAX = 500

/** A body that cannot be read does not change what the status says. */
async function explanation(response: Response): Promise<string> {
  try {
    const start = readStart(response, UPSTREAM_ERROR_BYTES_MAX)
    if (EXPLAINED.includes(response.status)) return await start
    start.catch(() => {})
    return await orAborted(start, AbortSignal.timeout(WORDS_MS_MAX))
  } catch {}
  return ''
}

/** Milliseconds of a `Retry-After` (RFC 9110, 10.2.3), seconds or a date; null when unreadable. */
function retryAfter(value: string | null, now: number): number | null {
  if (value === null || value.trim() === '') return null
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.max(0, Math.ceil(seconds * 1000))
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
