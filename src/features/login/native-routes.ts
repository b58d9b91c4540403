import { Elysia } from 'elysia'
import { ANONYMOUS_BODY_BYTES_MAX, LOGIN_STEPS_PER_MINUTE_MAX } from '../../core/limits/machine.ts'
import { jsonBody, jsonSchema, readBytes } from '../../http/body.ts'
import { PAGE_HEADERS } from '../../http/entry.ts'
import { answerDoc, queryDoc, REDIRECT_DOC, textContent } from '../../http/openapi-parts.ts'
import type { AddressLimit } from '../../http/request-limits.ts'
import { checkRole } from '../../http/roles.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import type { AuditCode } from '../audit/service.ts'
import type { Tenants } from '../tenants/service.ts'
import { type ConsentHead, consentPage } from './consent-page.ts'
import { ConsentForm, ExchangeRequest, ExchangeResponse } from './model.ts'
import type { Consenting, NativeLogin, NativeRequest } from './native-app.ts'

export interface NativeRouteParts {
  readonly native: NativeLogin
  readonly sessions: ConsoleSessions
  readonly tenants: Pick<Tenants, 'emailOf' | 'nameOf'>
  readonly head: ConsentHead
  readonly addressLimit: AddressLimit
  readonly auditCode: AuditCode
}

const exchangeBody = jsonBody(ExchangeRequest, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })
const AUTHORIZE_QUERY = queryDoc({
  code_challenge: 'base64url of sha256(code_verifier), without padding',
  code_challenge_method: 'S256',
  app_scheme: 'deep-link scheme of the app',
})
const authorizeDoc = {
  summary: 'Ask the person whether a native app may have a key',
  description:
    'Shows an owner a page with the question, and leads everybody else to the login page and back.',
  parameters: AUTHORIZE_QUERY,
  responses: {
    ...answerDoc('The page, whose form is sent to the same path', textContent('text/html')),
    ...REDIRECT_DOC,
  },
}
const consentDoc = {
  summary: 'Hand a one-time code to a native app, with the consent of the person',
  requestBody: {
    required: true,
    content: {
      'application/x-www-form-urlencoded': {
        get schema() {
          return jsonSchema(ConsentForm, 'input')
        },
      },
    },
  },
  responses: REDIRECT_DOC,
}

/** Browsers send no usable `Origin` with the form of a page that has the policy `no-referrer`. */
const PAGE = {
  ...PAGE_HEADERS,
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

/** The answer to the form leads to the app. */
const policyOf = (scheme: string) => ({
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; " +
    `form-action 'self' ${scheme}:; base-uri 'none'; frame-ancestors 'none'`,
})

/** The language that a browser asks for first. */
function languageOf(request: Request): 'zh' | 'en' {
  const first = /\b(zh|en)\b/i.exec(request.headers.get('accept-language') ?? '')
  return first?.[1]?.toLowerCase() === 'en' ? 'en' : 'zh'
}

/** Signs a native app in with the browser's session. */
export function nativeRoutes(parts: NativeRouteParts) {
  const { native, sessions, tenants, head, addressLimit, auditCode } = parts
  const limit = addressLimit('login native', LOGIN_STEPS_PER_MINUTE_MAX)

  /** Who is signed in, as an owner: the app gets a general key. Null for nobody. */
  async function consenting(request: Request): Promise<Consenting | null> {
    const principal = await sessions.findOrMove(request)
    const session = await sessions.open(request)
    if (!principal?.userId || !session) return null
    checkRole(principal.role, 'owner')
    return { tenantId: principal.tenantId, userId: principal.userId, sessionId: session.id }
  }

  const toLogin = (appRequest: NativeRequest) =>
    `/login?next=${encodeURIComponent(native.path(appRequest))}`

  return new Elysia({ name: 'login-native' })
    .get(
      '/native/authorize',
      async ({ request, server, set }) => {
        await limit({ request, server, set })
        const appRequest = native.read(new URL(request.url).searchParams)
        const by = await consenting(request)
        if (!by) {
          set.status = 302
          set.headers.location = toLogin(appRequest)
          return ''
        }
        const { challenge, scheme } = appRequest
        const email = await tenants.emailOf(by.userId)
        const shown = { email, tenant: await tenants.nameOf(by.tenantId), scheme }
        const fields = {
          code_challenge: challenge,
          code_challenge_method: 'S256',
          app_scheme: scheme,
          consent: native.consent(by, appRequest),
        }
        const page = { ...shown, fields, refusal: native.refusal(appRequest) }
        const html = consentPage(page, head, languageOf(request))
        return new Response(html, { headers: { ...PAGE, ...policyOf(scheme) } })
      },
      { detail: authorizeDoc },
    )
    .post(
      '/native/authorize',
      async ({ request, server, set }) => {
        await limit({ request, server, set })
        const bytes = await readBytes(request, ANONYMOUS_BODY_BYTES_MAX)
        const form = new URLSearchParams(new TextDecoder().decode(bytes))
        const appRequest = native.read(form)
        const by = await consenting(request)
        set.status = 302
        set.headers.location = by
          ? await native.grant(by, appRequest, form.get('consent') ?? '')
          : toLogin(appRequest)
        return ''
      },
      { parse: 'none', detail: consentDoc },
    )
    .post(
      '/native/exchange',
      async ({ request, server, set }) => {
        await limit({ request, server, set })
        const body = await exchangeBody.read(request)
        const { answer, ...made } = await native.exchange(body.code, body.code_verifier)
        await auditCode(request, server, { ...made, keyId: null, route: '/native/exchange' })
        return answer
      },
      {
        parse: 'none',
        response: ExchangeResponse,
        detail: { summary: 'Exchange the code for a key', requestBody: exchangeBody.doc },
      },
    )
}
