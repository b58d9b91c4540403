import type { OidcOptions } from '../channels/openid/oidc.ts'
import type { Config } from '../config.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { deriveKey } from '../core/crypto.ts'
import { LOCAL_DOMAIN } from '../core/email.ts'
import { LOGIN_CODES_WINDOW_MS, RATE_WINDOW_MS } from '../core/limits/contract.ts'
import {
  INVITATIONS_PER_ADDRESS_MAX,
  INVITATIONS_PER_DAY_MAX,
  LOGIN_GUESSES_PER_HOUR_MAX,
} from '../core/limits/machine.ts'
import type { Logger } from '../core/log.ts'
import type { AuditCode } from '../features/audit/service.ts'
import { createInvitations } from '../features/invitations/service.ts'
import { createInvitationStore } from '../features/invitations/store.ts'
import type { Keys } from '../features/keys/service.ts'
import { createDelivery, type Delivery } from '../features/login/delivery.ts'
import { createEmailLogin, createLoginCodes } from '../features/login/email.ts'
import { createNativeLogin } from '../features/login/native-app.ts'
import { createOAuthLogin } from '../features/login/oauth.ts'
import { createSessionStore } from '../features/login/session-store.ts'
import { createSessions } from '../features/login/sessions.ts'
import { createSignupPolicy, type SignupPolicy } from '../features/login/signup-policy.ts'
import { createMembers, type MembersOptions } from '../features/members/service.ts'
import { createMemberStore } from '../features/members/store.ts'
import { createPeople } from '../features/people/service.ts'
import { createPeopleStore } from '../features/people/store.ts'
import { nameOf, type Tenants } from '../features/tenants/service.ts'
import type { Uploads } from '../http/body.ts'
import { clientAddress } from '../http/client-address.ts'
import type { RequestContexts } from '../http/observe.ts'
import { createOrigins } from '../http/origin.ts'
import {
  addressLimit,
  createRateLimiter,
  guessLimit,
  type PersonLimit,
} from '../http/request-limits.ts'
import { createConsoleSessions, createSessionTokens, sessionGate } from '../http/session.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { IdentityProvider } from '../upstream/ports/identity.ts'
import type { Adapters } from './adapters.ts'

interface ConsoleNeeds {
  readonly tenants: Tenants
  readonly keys: Keys
  readonly auditCode: AuditCode
  readonly jobs: Jobs
  /** What people have said. */
  readonly talks: MembersOptions['talks']
  /** Removes what deleted people leave behind. */
  readonly removal: { readonly wake: () => void }
  readonly contexts: RequestContexts
  readonly uploads: Uploads
  readonly personLimit: PersonLimit
}

/** Wires login, sessions and the console's gate. */
export function openConsole(adapters: Adapters, needs: ConsoleNeeds) {
  const { config, live, clock, db, log, pages, secrets, shared } = adapters
  const { tenants, keys, auditCode, jobs, talks, removal, contexts, uploads, personLimit } = needs
  const proxies = config.MB_TRUST_PROXY
  const tls = config.MB_TLS_CERT !== undefined
  const publicUrl = () => live.config().MB_PUBLIC_URL
  const origins = createOrigins({ publicUrl, proxies, tls })
  const invitations = createInvitations({ store: createInvitationStore(db), clock, nameOf })
  const store = createSessionStore(db)
  const opened = createSessions({ store, clock, tenants, invitations })
  const sessions = createConsoleSessions({
    tokens: createSessionTokens({ secret: secrets.session, clock }),
    findUser: tenants.ofSession,
    moveHome: opened.moveHome,
    end: opened.end,
    secure: config.MB_COOKIE_SECURE,
  })
  warnOfPlainHttp(config, log)
  const { roleIn } = tenants
  const addressOf = clientAddress(proxies)
  const addresses = createRateLimiter(shared.openWindows('address', RATE_WINDOW_MS))
  const guesses = createRateLimiter(shared.openWindows('login guess by address', HOUR_MS))
  const delivery = openDelivery(adapters)
  const signup = createSignupPolicy(tenants, () => live.config().MB_SIGNUP)
  return {
    gate: sessionGate({ sessions, roleIn, origins, contexts, uploads, limit: personLimit }),
    sessions: opened,
    members: openMembers(adapters, { delivery, jobs, tenants, keys, talks }),
    people: createPeople({
      store: createPeopleStore(db),
      clock,
      nameOf,
      onEnded: keys.onRevoked,
      forgetTalks: talks.forget,
      onGone: removal.wake,
    }),
    login: {
      email: openEmailLogin(adapters, { signup, delivery, jobs }),
      oauth: createOAuthLogin({
        providers: identityProviders(config, adapters.fetch),
        clock,
        key: deriveKey(secrets.session, 'oauth flow'),
        signup,
        log,
      }),
      native: createNativeLogin({
        openCodes: shared.openCodes,
        keys,
        store,
        key: deriveKey(secrets.session, 'consent'),
        clock,
        schemes: config.MB_APP_SCHEMES,
      }),
      tenants,
      sessions,
      opened,
      invitations,
      head: pages.head,
      auditCode,
      origins,
      secureCookies: config.MB_COOKIE_SECURE,
      addressLimit: addressLimit(addresses, addressOf),
      guessLimit: guessLimit(guesses, addressOf, LOGIN_GUESSES_PER_HOUR_MAX),
    },
  }
}

function warnOfPlainHttp(config: Config, log: Logger) {
  if (!config.MB_COOKIE_SECURE) {
    log.warn('session cookies travel over plain http', { setting: 'MB_COOKIE_SECURE' })
  }
  if (config.MB_OIDC_ISSUER?.startsWith('http:')) {
    log.warn('the login provider is asked over plain http', { setting: 'MB_OIDC_ISSUER' })
  }
}

interface MemberNeeds {
  readonly delivery: Delivery
  readonly jobs: Jobs
  readonly tenants: Tenants
  readonly keys: Keys
  readonly talks: MembersOptions['talks']
}

/** Wires the members of a tenant. */
function openMembers(adapters: Adapters, needs: MemberNeeds) {
  const { delivery, jobs, tenants, keys, talks } = needs
  const { db, clock, shared } = adapters
  const limiter = createRateLimiter(shared.openWindows('invitation', DAY_MS))
  const mails = shared.openWindows('invitation mail', DAY_MS)

  /** All tenants together send one address few mails a day, because anybody can invite anybody. */
  async function mail(email: string, inviterId: string): Promise<boolean> {
    if (delivery.medium() !== 'mail' || email.endsWith(LOCAL_DOMAIN)) return false
    if (!(await mails.count(email, INVITATIONS_PER_ADDRESS_MAX)).counted) return false
    jobs.run('send invitation', async (signal) => {
      const inviter = await tenants.emailOf(inviterId)
      if (inviter !== '') await delivery.invite(email, inviter, signal)
    })
    return true
  }
  return createMembers({
    store: createMemberStore(db),
    clock,
    async checkInvitations(tenantId) {
      await limiter.take(tenantId, INVITATIONS_PER_DAY_MAX)
    },
    mail,
    revokeOfPerson: keys.revokeOfPerson,
    talks,
    onRemoved: keys.onRevoked,
  })
}

/** Sends codes and invitations by mail, or shows codes on the terminal. */
const openDelivery = ({ live, mailer, printCode, log }: Adapters) =>
  createDelivery({ mailer, print: printCode, site: () => live.config().MB_PUBLIC_URL, log })

interface EmailLoginNeeds {
  readonly signup: SignupPolicy
  readonly delivery: Delivery
  readonly jobs: Jobs
}

/** Wires signing in by a code. */
function openEmailLogin({ clock, secrets, shared }: Adapters, needs: EmailLoginNeeds) {
  const { openCodes, openWindows } = shared
  return createEmailLogin({
    clock,
    codes: createLoginCodes({ openCodes, key: deriveKey(secrets.session, 'login code') }),
    signup: needs.signup,
    delivery: needs.delivery,
    jobs: needs.jobs,
    codeLimiter: createRateLimiter(openWindows('login code', LOGIN_CODES_WINDOW_MS)),
    guessLimiter: createRateLimiter(openWindows('login guess', DAY_MS)),
  })
}

type OidcClient = Pick<OidcOptions, 'issuer' | 'clientId' | 'clientSecret'>

/** The configured providers, in the order of the login page. */
function identityProviders(config: Config, fetch: UpstreamFetch): IdentityProvider[] {
  const oidc = (id: string, name: string, client: OidcClient) =>
    deferred(id, name, async () => {
      const { createOidcProvider } = await import('../channels/openid/oidc.ts')
      const { issuer, clientId, clientSecret } = client
      return createOidcProvider({ fetch, id, name, issuer, clientId, clientSecret })
    })
  const providers: IdentityProvider[] = []
  const { MB_GITHUB_CLIENT_ID: githubId, MB_GITHUB_CLIENT_SECRET: githubSecret } = config
  if (githubId !== undefined && githubSecret !== undefined) {
    const client = { fetch, clientId: githubId, clientSecret: githubSecret }
    const load = async () =>
      (await import('../channels/openid/github.ts')).createGithubProvider(client)
    providers.push(deferred('github', 'GitHub', load))
  }
  if (config.MB_GOOGLE_CLIENT_ID !== undefined) {
    const client = {
      issuer: 'https://accounts.google.com',
      clientId: config.MB_GOOGLE_CLIENT_ID,
      clientSecret: config.MB_GOOGLE_CLIENT_SECRET,
    }
    providers.push(oidc('google', 'Google', client))
  }
  if (config.MB_OIDC_ISSUER !== undefined && config.MB_OIDC_CLIENT_ID !== undefined) {
    const client = {
      issuer: config.MB_OIDC_ISSUER,
      clientId: config.MB_OIDC_CLIENT_ID,
      clientSecret: config.MB_OIDC_CLIENT_SECRET,
    }
    providers.push(oidc('oidc', config.MB_OIDC_NAME ?? 'SSO', client))
  }
  return providers
}

/** Loads a provider's client library with the first login that uses it. */
function deferred(
  id: string,
  name: string,
  load: () => Promise<IdentityProvider>,
): IdentityProvider {
  let loading: Promise<IdentityProvider> | null = null
  const loaded = () => {
    loading ??= load()
    return loading
  }
  return {
    id,
    name,
    authorizationUrl: async (attempt, redirectUri) =>
      (await loaded()).authorizationUrl(attempt, redirectUri),
    verifiedEmail: async (attempt, callback) => (await loaded()).verifiedEmail(attempt, callback),
  }
}
