import { appError } from '../../core/errors.ts'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import {
  ApiKeyMeta,
  IssueKeyRequest,
  IssueKeyResponse,
  KeyListResponse,
  KeyRevokeResponse,
  KeyUpdateRequest,
  MadeByKey,
} from './model.ts'
import type { Keys } from './service.ts'

const WITH_MADE = queryDoc({ made: 'revoke: also what the key has made, see /keys/{id}/made' })

/** Throws `query_invalid` for another value than `revoke`. */
function isWithMade({ url }: Request): boolean {
  const made = new URL(url).searchParams.get('made')
  if (made !== null && made !== 'revoke') throw appError('query_invalid', { field: 'made' })
  return made !== null
}

const issue = jsonBody(IssueKeyRequest, { optional: true })
const update = jsonBody(KeyUpdateRequest)

/** API keys of the tenant, for signed-in people; those that open all of it, for owners. */
export const keyRoutes = (on: Gated, keys: Keys, answers: JsonAnswers) =>
  on
    .get(
      '/keys',
      (context) => answers.respond(context, () => keys.list(context.principal.tenantId)),
      {
        allow: MANAGERS,
        detail: {
          summary: 'List API keys, revoked ones included',
          responses: jsonDoc(KeyListResponse),
        },
      },
    )
    .post(
      '/keys',
      async ({ principal, request, upload, set }) => {
        const { name, rate_limit, daily_tokens } = await issue.read(request, upload)
        const personId = principal.userId
        const scope = { name, rateLimit: rate_limit, dailyTokens: daily_tokens, personId }
        const issued = await keys.issue(principal.tenantId, scope)
        set.status = 201
        return issued
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: IssueKeyResponse },
        detail: { summary: 'Issue a tenant-general key', requestBody: issue.doc },
      },
    )
    .put(
      '/keys/:id',
      async ({ principal, params, request, upload }) => {
        await keys.checkManages(principal, params.id)
        return keys.update(principal.tenantId, params.id, await update.read(request, upload))
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: ApiKeyMeta,
        detail: {
          summary: 'Change the name, the rate limit or the daily budget of a key',
          requestBody: update.doc,
        },
      },
    )
    .get(
      '/keys/:id/made',
      (context) =>
        answers.respond(context, () => keys.madeBy(context.principal.tenantId, context.params.id)),
      {
        allow: MANAGERS,
        detail: {
          summary: 'List what a key has made: keys of apps, devices and shares',
          responses: jsonDoc(MadeByKey),
        },
      },
    )
    .delete(
      '/keys/:id',
      async ({ principal, params, request }) => {
        await keys.checkManages(principal, params.id)
        return keys.revoke(principal.tenantId, params.id, isWithMade(request))
      },
      {
        allow: MANAGERS,
        response: KeyRevokeResponse,
        detail: { summary: 'Revoke a key of any kind', parameters: WITH_MADE },
      },
    )
