import { Elysia } from 'elysia'
import type { Clock } from '../../../core/clock.ts'
import { AppError, appError } from '../../../core/errors.ts'
import {
  FRESH_SIGN_IN_SECONDS_MAX,
  PASSKEY_CHALLENGE_SECONDS_MAX,
  PASSKEY_TRIES_PER_MINUTE_MAX,
} from '../../../core/limits/contract.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../../core/limits/machine.ts'
import type { Principal } from '../../../core/principal.ts'
import { jsonBody } from '../../../http/body.ts'
import { addressGroup, type ClientAddress } from '../../../http/client-address.ts'
import type { Gated } from '../../../http/gate.ts'
import type { Origins } from '../../../http/origin.ts'
import type { AddressLimit } from '../../../http/request-limits.ts'
import { type ConsoleSessions, cookie, cookieValues } from '../../../http/session.ts'
import type { AuditCode } from '../../audit/service.ts'
import type { Tenants } from '../../tenants/service.ts'
import { Me } from '../model.ts'
import { type MeTenants, meOf } from '../person-routes.ts'
import type { SignInWays } from '../ways.ts'
import {
  Passkey,
  PasskeyAddRequest,
  PasskeyDeleteResponse,
  PasskeyName,
  PasskeyOptions,
  PasskeysResponse,
  PasskeyVerifyRequest,
} from './model.ts'
import { type RelyingParty, relyingParty } from './relying-party.ts'
import type { Passkeys } from './service.ts'

export interface PasskeyRouteParts {
  readonly passkeys: Passkeys
  readonly ways: SignInWays
  readonly origins: Origins
  readonly tenants: Pick<Tenants, 'emailOf'> & MeTenants
  readonly sessions: ConsoleSessions
  readonly addressLimit: AddressLimit
  readonly addressOf: ClientAddress
  readonly auditCode: AuditCode
  readonly clock: Pick<Clock, 'now'>
}

const COOKIE = 'mb_passkey'
const SHORT = { bytesMax: ANONYMOUS_BODY_BYTES_MAX }
const verifyBody = jsonBody(PasskeyVerifyRequest, SHORT)
const addBody = jsonBody(PasskeyAddRequest)
const nameBody = jsonBody(PasskeyName)

/** Anything wrong is the same to somebody who signs in, be it in the form of the answer. */
function refusedBody(error: unknown): never {
  const isWrong = error instanceof AppError && error.status === 400
  throw isWrong ? appError('passkey_refused') : error
}

/** What both halves need: whom passkeys are for, and the cookie of a challenge. */
function common({ ways, origins, sessions }: PasskeyRouteParts) {
  return {
    /** Throws `login_method_unknown` where passkeys cannot be used. */
    partyOf(request: Request): RelyingParty {
      const rp = ways.has('passkey') ? relyingParty(origins, request) : null
      if (!rp) throw appError('login_method_unknown')
      return rp
    },
    cookieOf: (request: Request, value: string, maxAgeSeconds: number) =>
      cookie(COOKIE, value, { path: '/auth', maxAgeSeconds, secure: sessions.isSecure(request) }),
  }
}

/** Signing in by a passkey. */
export function passkeySignInRoutes(parts: PasskeyRouteParts) {
  const { passkeys, tenants, sessions, addressLimit, addressOf, auditCode } = parts
  const { partyOf, cookieOf } = common(parts)
  const limitOptions = addressLimit('passkey options', PASSKEY_TRIES_PER_MINUTE_MAX)
  const limitTries = addressLimit('passkey verify', PASSKEY_TRIES_PER_MINUTE_MAX)

  return new Elysia({ name: 'login-passkey' })
    .post(
      '/passkey/options',
      async ({ request, server, set }) => {
        await limitOptions({ request, server, set })
        const rp = partyOf(request)
        const owner = addressGroup(addressOf(request, server))
        const { browser, options } = await passkeys.signInOptions(rp, owner)
        set.headers['set-cookie'] = cookieOf(request, browser, PASSKEY_CHALLENGE_SECONDS_MAX)
        return options
      },
      {
        parse: 'none',
        response: PasskeyOptions,
        detail: { summary: 'Ask for a passkey' },
      },
    )
    .post(
      '/passkey/verify',
      async ({ request, server, set }) => {
        await limitTries({ request, server, set })
        const rp = partyOf(request)
        const { response } = await verifyBody.read(request).catch(refusedBody)
        const browsers = cookieValues(request, COOKIE)
        const { user, refused } = await passkeys.signIn(rp, browsers, response)
        if (refused) {
          const { id: target, name, tenant_id: tenantId, user_id: userId } = refused
          const made = { tenantId, userId, keyId: null, target, name }
          await auditCode(request, server, { ...made, route: '/passkey/verify' })
        }
        if (!user) throw appError('passkey_refused')
        set.headers['set-cookie'] = [cookieOf(request, '', 0), sessions.cookieFor(user, request)]
        return meOf(tenants, user)
      },
      {
        parse: 'none',
        response: Me,
        detail: { summary: 'Log in with a passkey', requestBody: verifyBody.doc },
      },
    )
}

/** The signed-in person's own passkeys. */
export function passkeyRoutes(on: Gated, parts: PasskeyRouteParts) {
  const { passkeys, tenants, sessions, auditCode, clock } = parts
  const { partyOf, cookieOf } = common(parts)

  /** Throws `sign_in_again`: an unlocked screen must not be enough to add a way in. */
  async function checkFresh(request: Request): Promise<void> {
    const session = await sessions.open(request)
    const age = clock.now() - (session?.startedAt ?? 0)
    if (age > FRESH_SIGN_IN_SECONDS_MAX * 1000) throw appError('sign_in_again')
  }

  const by = ({ tenantId, userId }: Principal) => ({ tenantId, userId, keyId: null })

  on.get('/passkeys', ({ principal }) => passkeys.list(principal.userId ?? ''), {
    allow: ['session'],
    response: PasskeysResponse,
    detail: { summary: 'List own passkeys' },
  })
    .post(
      '/passkeys/options',
      async ({ principal, request, set }) => {
        const rp = partyOf(request)
        await checkFresh(request)
        const id = principal.userId ?? ''
        const person = { id, email: await tenants.emailOf(id) }
        const { browser, options } = await passkeys.addOptions(rp, person)
        set.headers['set-cookie'] = cookieOf(request, browser, PASSKEY_CHALLENGE_SECONDS_MAX)
        return options
      },
      {
        allow: ['session'],
        parse: 'none',
        response: PasskeyOptions,
        detail: { summary: 'Begin to add a passkey' },
      },
    )
    .post(
      '/passkeys',
      async ({ principal, request, server, set, upload }) => {
        const rp = partyOf(request)
        await checkFresh(request)
        const { name, response } = await addBody.read(request, upload)
        const browsers = cookieValues(request, COOKIE)
        const made = await passkeys.add(rp, browsers, principal.userId ?? '', name, response)
        const audited = { ...by(principal), target: made.id, name }
        await auditCode(request, server, { ...audited, route: '/passkeys' })
        set.status = 201
        return made
      },
      {
        allow: ['session'],
        parse: 'none',
        response: { 201: Passkey },
        detail: { summary: 'Add a passkey', requestBody: addBody.doc },
      },
    )
  changeRoutes(on, parts, by)
}

function changeRoutes(
  on: Gated,
  { passkeys, auditCode }: PasskeyRouteParts,
  by: (principal: Principal) => { tenantId: string; userId: string | null; keyId: null },
) {
  const route = '/passkeys/:id'
  return on
    .put(
      route,
      async ({ principal, params, request, server, upload }) => {
        const { name } = await nameBody.read(request, upload)
        const renamed = await passkeys.rename(principal.userId ?? '', params.id, name)
        const audited = { ...by(principal), target: params.id, name }
        await auditCode(request, server, { ...audited, route, method: 'PUT' })
        return renamed
      },
      {
        allow: ['session'],
        parse: 'none',
        response: Passkey,
        detail: { summary: 'Rename a passkey', requestBody: nameBody.doc },
      },
    )
    .delete(
      route,
      async ({ principal, params, request, server }) => {
        const name = await passkeys.remove(principal.userId ?? '', params.id)
        const audited = { ...by(principal), target: params.id, name }
        await auditCode(request, server, { ...audited, route, method: 'DELETE' })
        return { id: params.id, deleted: true as const }
      },
      {
        allow: ['session'],
        response: PasskeyDeleteResponse,
        detail: { summary: 'Remove a passkey' },
      },
    )
}
