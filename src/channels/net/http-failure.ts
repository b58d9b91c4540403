import { UPSTREAM_ERROR_BYTES_MAX } from '../../core/limits/upstream.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { readStart } from './upstream-fetch.ts'

/** An answer other than 2xx. */
export interface HttpFailure {
  readonly failure: ChannelFailure
  /** Start of the body of a 400, 404 or 422, to look for words in; never to be passed on. */
  readonly text: string
}

const TOOL_WORDS = /\btool|\bfunction|工具|函数/i
const EXPLAINED = [400, 404, 422]

/**
 * Sorts an answer other than 2xx (contract, section 4, "BYO reasons"). A redirect is not followed
 * and counts as a fault of the upstream. Only the body of a 400, 404 or 422 is read. Never rejects.
 */
export async function httpFailure(response: Response, now: number): Promise<HttpFailure> {
  const { status } = response
  const text = await explanation(response)
  const phrase = `HTTP ${status}`
  const retryAfterMs = retryAfter(response.headers.get('retry-after'), now)
  const wait = retryAfterMs === null ? {} : { retryAfterMs }
  const fail = (reason: ChannelFailure['reason'], details: object) => ({
    failure: new ChannelFailure(reason, phrase, { status, ...details }),
    text,
  })
  if (status === 408 || status === 429) {
    return fail('retry_exhausted', { retryable: true, ...wait })
  }
  if (status >= 500) return fail('upstream_5xx', { retryable: true, ...wait })
  if (status < 400) return fail('provider_error', {})
  return fail('upstream_4xx', { toolsRefused: status !== 404 && TOOL_WORDS.test(text) })
}

/** A body that cannot be read does not change what the status says. */
async function explanation(response: Response): Promise<string> {
  try {
    if (EXPLAINED.includes(response.status)) {
      return await readStart(response, UPSTREAM_ERROR_BYTES_MAX)
    }
    await response.body?.cancel()
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
