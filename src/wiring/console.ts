import type { OidcOptions } from '../channels/openid/oidc.ts'
import type { Config } from '../config.ts'
import { type Clock, DAY_MS, HOUR_MS } from '../core/clock.ts'
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
import { createSessionStore, type SessionStore } from '../features/login/session-store.ts'
import { createSessions } from '../features/login/sessions.ts'
import { createSignupPolicy } from '../features/login/signup-policy.ts'
import { createMembers, type MembersOptions } from '../features/members/service.ts'
import { createMemberStore } from '../features/members/store.ts'
import { createPeople } from '../features/people/service.ts'
import { createPeopleStore } from '../features/people/store.ts'
import { nameOf, type Tenants } from '../features/tenants/service.ts'
import type { Uploads } from '../http/body.ts'
import { clientAddress } from '../http/client-address.ts'
import type { PageHead } from '../http/console-pages.ts'
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
import type { Db } from '../storage/db.ts'
import type { SharedState } from '../storage/shared-state.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { IdentityProvider } from '../upstream/ports/identity.ts'
import type { Mailer } from '../upstream/ports/mail.ts'
import type { Live, LiveSettings } from './live-settings.ts'

export interface ConsoleParts {
  readonly config: Config
  readonly live: LiveSettings
  readonly mailer: Live<Mailer | null>
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  readonly tenants: Tenants
  readonly db: Db
  readonly shared: Pick<SharedState, 'openWindows' | 'openCodes'>
  /** What people have said. */
  readonly talks: MembersOptions['talks']
  /** Removes what deleted people leave behind. */
  readonly removal: { readonly wake: () => void }
  /** Where pages of the server's own find the style of the console. */
  readonly head: PageHead
  readonly contexts: RequestContexts
  readonly keys: Keys
  readonly uploads: Uploads
  readonly personLimit: PersonLimit
  readonly auditCode: AuditCode
  /** Signs sessions, seals login state and hashes login codes, by a derived key each. */
  readonly secret: Uint8Array
  readonly fetch: UpstreamFetch
  readonly printCode: (email: string, code: string) => void
}

/** Wires login, sessions and the console's gate. */
export function openConsole(parts: ConsoleParts) {
  const { config, live, clock, secret, shared, tenants, contexts, uploads, personLimit } = parts
  const proxies = config.MB_TRUST_PROXY
  const tls = config.MB_TLS_CERT !== undefined
  const publicUrl = () => live.config().MB_PUBLIC_URL
  const origins = createOrigins({ publicUrl, proxies, tls })
  const sessionStore = createSessionStore(parts.db)
  const invitationStore = createInvitationStore(parts.db)
  const invitations = createInvitations({ store: invitationStore, clock, nameOf })
  const opened = createSessions({ store: sessionStore, clock, tenants, invitations })
  const sessions = createConsoleSessions({
    tokens: createSessionTokens({ secret, clock }),
    findUser: tenants.ofSession,
    moveHome: opened.moveHome,
    end: opened.end,
    secure: config.MB_COOKIE_SECURE,
  })
  warnOfPlainHttp(config, parts.log)
  const login = openLogin(parts, sessionStore)
  const { roleIn } = tenants
  return {
    gate: sessionGate({ sessions, roleIn, origins, contexts, uploads, limit: personLimit }),
    sessions: opened,
    services: { members: openMembers(parts, login.delivery), people: openPeople(parts) },
    login: {
      ...login,
      tenants,
      sessions,
      opened,
      invitations,
      head: parts.head,
      auditCode: parts.auditCode,
      origins,
      secureCookies: config.MB_COOKIE_SECURE,
      addressLimit: addressLimit(
        createRateLimiter(shared.openWindows('address', RATE_WINDOW_MS)),
        clientAddress(proxies),
      ),
      guessLimit: guessLimit(
        createRateLimiter(shared.openWindows('login guess by address', HOUR_MS)),
        clientAddress(proxies),
        LOGIN_GUESSES_PER_HOUR_MAX,
      ),
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

/** Wires people: the addresses that can sign in at all. */
const openPeople = ({ db, clock, keys, talks, removal }: ConsoleParts) =>
  createPeople({
    store: createPeopleStore(db),
    forgetTalks: talks.forget,
    clock,
    nameOf,
    onEnded: keys.onRevoked,
    onGone: removal.wake,
  })

/** Wires the members of a tenant. */
function openMembers(parts: ConsoleParts, delivery: Delivery) {
  const { db, clock, jobs, shared, tenants, keys } = parts
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
    talks: parts.talks,
    onRemoved: keys.onRevoked,
  })
}

/** Wires every way of signing in. */
function openLogin(parts: ConsoleParts, sessions: SessionStore) {
  const { tenants, config, live, clock, log, jobs, keys, secret, printCode, mailer } = parts
  const { openCodes, openWindows } = parts.shared
  const signup = createSignupPolicy(tenants, () => live.config().MB_SIGNUP)
  const site = () => live.config().MB_PUBLIC_URL
  const delivery = createDelivery({ mailer, print: printCode, site, log })
  const email = createEmailLogin({
    clock,
    codes: createLoginCodes({ openCodes, key: deriveKey(secret, 'login code') }),
    signup,
    delivery,
    jobs,
    codeLimiter: createRateLimiter(openWindows('login code', LOGIN_CODES_WINDOW_MS)),
    guessLimiter: createRateLimiter(openWindows('login guess', DAY_MS)),
  })
  const oauth = createOAuthLogin({
    providers: identityProviders(config, parts.fetch),
    clock,
    key: deriveKey(secret, 'oauth flow'),
    signup,
    log,
  })
  const native = createNativeLogin({
    openCodes,
    keys,
    store: sessions,
    key: deriveKey(secret, 'consent'),
    clock,
    schemes: config.MB_APP_SCHEMES,
  })
  return { email, oauth, native, delivery }
}

/** The mail server in use; null without one. */
export const openMail = (live: LiveSettings) =>
  live.part(['MB_SMTP_URL', 'MB_MAIL_FROM'], openMailer, async (mailer) => mailer?.close())

/** The mail client is loaded with the first mail: it takes longer to load than everything else. */
function openMailer(config: Config): Mailer | null {
  const url = config.MB_SMTP_URL
  if (url === undefined) return null
  const from = config.MB_MAIL_FROM ?? defaultFrom(url)
  let loading: Promise<Mailer> | null = null
  const load = async () =>
    (await import('../channels/smtp/mailer.ts')).createSmtpMailer({ url, from })
  return {
    async send(mail, signal) {
      loading ??= load()
      await (await loading).send(mail, signal)
    },
    close: async () => (await loading)?.close(),
  }
}

/** The sender: the account at the mail server, else an address at its host. */
function defaultFrom(smtpUrl: string): string {
  const { username, hostname } = new URL(smtpUrl)
  const user = decodeURIComponent(username)
  return `Moonbase <${user.includes('@') ? user : `moonbase@${hostname}`}>`
}

/** The configured providers, in the order of the login page. */
function identityProviders(config: Config, fetch: UpstreamFetch): IdentityProvider[] {
  const oidc = (id: string, name: string, client: Omit<OidcOptions, 'fetch' | 'id' | 'name'>) =>
    deferred(id, name, async () => {
      const { createOidcProvider } = await import('../channels/openid/oidc.ts')
      return createOidcProvider({ fetch, id, name, ...client })
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
