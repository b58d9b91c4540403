import { Elysia } from 'elysia'
import type { Facts, RequestFacts } from './request-context.ts'
import { elapsedMs, statusOf } from './response-info.ts'

/** The specification's fixed set of log labels, by method and route. */
const LABELS: Readonly<Record<string, string>> = {
  'POST /v1/agent': '/v1/agent',
  'POST /v1/tts': '/v1/tts',
  'POST /v1/tts/stream': '/v1/tts/stream',
  'POST /v1/asr': '/v1/asr',
  'GET /v1/kb/docs': '/v1/kb/docs',
  'POST /v1/kb/docs': '/v1/kb/docs',
  'DELETE /v1/kb/docs/:id': '/v1/kb/docs/:id',
  // The id is missing: a 400 of the same endpoint.
  'DELETE /v1/kb/docs/': '/v1/kb/docs/:id',
  'DELETE /v1/kb/docs': '/v1/kb/docs/:id',
  'POST /v1/kb/search': '/v1/kb/search',
}

export interface LoggedRequest extends RequestFacts {
  readonly endpoint: string
  readonly status: number
  /** Whole milliseconds from the first byte of the request to headers ready. */
  readonly latencyMs: number
}

/**
 * Hands over what is known of each answered machine request that has a log label, as soon as its
 * headers are ready. A 401 has none: no tenant is behind it, or no longer.
 */
export const requestLog = (
  facts: Facts,
  steady: () => number,
  record: (request: LoggedRequest) => void,
) =>
  new Elysia({ name: 'request-log' }).onAfterResponse({ as: 'global' }, (context) => {
    const known = facts.of(context.request)
    const endpoint = LABELS[`${context.request.method} ${context.route}`]
    const status = statusOf(context.set)
    if (!known?.principal || endpoint === undefined || status === 401) return
    record({
      ...known,
      errorClass: status >= 400 ? known.errorClass : null,
      endpoint,
      status,
      latencyMs: Math.round(elapsedMs(known, steady())),
    })
  })
