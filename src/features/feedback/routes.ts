import { appError } from '../../core/errors.ts'
import { clampedLimit, sessionId } from '../../core/fields.ts'
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import { FeedbackGiven, FeedbackRequest, FeedbackResponse } from './model.ts'
import type { Feedback } from './service.ts'

const GIVERS = EVERYONE.filter((kind) => kind !== 'device')

const QUERY = queryDoc({
  app_id: 'only answers of this app',
  rating: '1 or -1: only these items; the counts stay those of both',
  since: 'ISO 8601, inclusive',
  limit: 'items returned, 1 to 200; default 50',
  before: 'next_before of the page before',
})

const body = jsonBody(FeedbackRequest)

/** Thumbs for answers, on both surfaces. */
export const feedbackRoutes = (on: Gated, feedback: Feedback) =>
  on
    .put(
      '/sessions/:id/turns/:seq/feedback',
      async ({ principal, params, request, upload }) => {
        const given = await body.read(request, upload)
        return feedback.give(principal, sessionId(params.id), params.seq, given)
      },
      {
        allow: GIVERS,
        parse: 'none',
        response: FeedbackGiven,
        detail: { summary: 'Say whether an answer was good', requestBody: body.doc },
      },
    )
    .get(
      '/feedback',
      ({ principal: { tenantId }, request }) => {
        const query = new URL(request.url).searchParams
        const since = sinceOf(query.get('since'))
        const filter = { tenantId, appId: query.get('app_id') || null, since }
        const page = {
          rating: ratingOf(query.get('rating')),
          before: query.get('before') || null,
          limit: clampedLimit(query.get('limit'), LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
        }
        return feedback.list(filter, page, request.signal)
      },
      {
        allow: MANAGERS,
        response: FeedbackResponse,
        detail: { summary: 'What people and visitors thought of answers', parameters: QUERY },
      },
    )

function ratingOf(given: string | null): number | null {
  if (given === null || given === '') return null
  if (given !== '1' && given !== '-1') throw appError('query_invalid', { field: 'rating' })
  return Number(given)
}

function sinceOf(given: string | null): number {
  if (given === null || given === '') return 0
  // A `+` that was not percent-encoded arrives as a space.
  const ms = /^\d{4}-/.test(given) ? Date.parse(given.replace(' ', '+')) : Number.NaN
  if (!(ms >= 0)) throw appError('query_invalid', { field: 'since' })
  return ms
}
