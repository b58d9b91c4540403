import { Elysia } from 'elysia'
import { FEEDBACK_PER_MINUTE_MAX } from '../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import type { Feedback } from '../../features/feedback/service.ts'
import type { Shares } from '../../features/shares/service.ts'
import { jsonBody } from '../../http/body.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit } from '../../http/request-limits.ts'
import { createOriginCheck } from './origin-check.ts'
import { sessionOf, VisitorFeedback, VisitorRated, visitorOf } from './visitor.ts'

export interface VisitorFeedbackParts {
  readonly services: {
    readonly shares: Pick<Shares, 'open'>
    readonly feedback: Pick<Feedback, 'give'>
  }
  readonly auth: { readonly origins: Origins; readonly addressLimit: AddressLimit }
}

const HIDDEN = { detail: { hide: true } } as const
const feedbackBody = jsonBody(VisitorFeedback, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })

/** Thumbs of visitors, and what pages of other origins ask before: leave, and the look. */
export function visitorFeedback({ services, auth }: VisitorFeedbackParts) {
  const { shares, feedback } = services
  const { origins, addressLimit } = auth
  const thumbLimit = addressLimit('share feedback', FEEDBACK_PER_MINUTE_MAX)
  const allowOrigin = createOriginCheck(origins)

  interface Asked {
    readonly params: { readonly token: string }
    readonly request: Request
    readonly set: { readonly headers: Record<string, string | number>; status?: number | string }
  }

  async function preflight({ params, request, set }: Asked): Promise<string> {
    allowOrigin(request, await shares.open(params.token), set.headers)
    set.headers['access-control-allow-methods'] = 'POST'
    set.headers['access-control-allow-headers'] = 'Content-Type'
    set.headers['access-control-max-age'] = '600'
    set.status = 204
    return ''
  }

  return new Elysia({ name: 'visitor-feedback' })
    .options('/s/:token', preflight, HIDDEN)
    .options('/s/:token/feedback', preflight, HIDDEN)
    .get(
      '/s/:token/look',
      async ({ params, request, set }) => {
        const share = await shares.open(params.token)
        allowOrigin(request, share, set.headers)
        set.headers['cache-control'] = 'no-store'
        return { ...share.look, icon: share.icon }
      },
      HIDDEN,
    )
    .post(
      '/s/:token/feedback',
      async ({ params, request, server, set }) => {
        const share = await shares.open(params.token)
        allowOrigin(request, share, set.headers)
        set.headers['cache-control'] = 'no-store'
        await thumbLimit({ request, server, set })
        const { session_id, seq, rating, reason } = await feedbackBody.read(request)
        const given = { rating, reason, text: null, share: false }
        return feedback.give(visitorOf(share), sessionOf(share, session_id), seq, given)
      },
      {
        parse: 'none',
        response: VisitorRated,
        detail: {
          summary: 'Say as a visitor whether an answer was good',
          tags: ['shares'],
          requestBody: feedbackBody.doc,
        },
      },
    )
}
