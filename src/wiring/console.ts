import type { Config } from '../config.ts'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { deriveKey } from '../core/crypto.ts'
import { LOCAL_DOMAIN } from '../core/email.ts'
import { LOGIN_CODES_WINDOW_MS, RATE_WINDOW_MS } from '../core/limits/contract.ts'
import { LOGIN_GUESSES_PER_HOUR_MAX } from '../core/limits/machine.ts'
import type { Logger } from '../core/log.ts'
import type { AuditCode } from '../features/audit/service.ts'
import { createInvitations } from '../features/invitations/service.ts'
import { createInvitationStore } from '../features/invitations/store.ts'
import type { Keys } from '../features/keys/service.ts'
import { createDelivery, type Delivery } from '../features/login/delivery.ts'
import { createEmailLogin, createLoginCodes } from '../features/login/email.ts'
import { createLinks } from '../features/login/link-store.ts'
import { createNativeLogin } from '../features/login/native-app.ts'
import { createOAuthLogin } from '../features/login/oauth.ts'
import { createChallenges } from '../features/login/passkeys/challenges.ts'
import { createPasskeys } from '../features/login/passkeys/service.ts'
import { createPasskeyStore } from '../features/login/passkeys/store.ts'
import { createSessionStore } from '../features/login/session-store.ts'
import { createSessions } from '../features/login/sessions.ts'
import { createSignupPolicy, type SignupPolicy } from '../features/login/signup-policy.ts'
import { createWays } from '../features/login/ways.ts'
import { createPeople } from '../features/people/service.ts'
import { createPeopleStore } from '../features/people/store.ts'
import { createTenantLimitStore } from '../features/tenants/limits-store.ts'
import { nameOf, type Tenants } from '../features/tenants/service.ts'
import type { Usage } from '../features/usage/service.ts'
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
import type { Adapters } from './adapters.ts'
import { identityProviders } from './identity.ts'
import { openMembers } from './members.ts'
import type { OpenedSessions } from './sessions.ts'

interface ConsoleNeeds {
  readonly tenants: Tenants
  readonly usage: Pick<Usage, 'tokensToday' | 'flush'>
  readonly keys: Keys
  readonly auditCode: AuditCode
  readonly jobs: Jobs
  /** What people have said. */
  readonly talks: OpenedSessions['talks']
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
    isSecure: (request) =>
      config.MB_COOKIE_SECURE === 'auto'
        ? origins.takesSecureCookies(request)
        : config.MB_COOKIE_SECURE === 'true',
  })
  warnOfPlainHttp(config, log)
  const { roleIn } = tenants
  const addressOf = clientAddress(proxies)
  const addresses = createRateLimiter(shared.openWindows('address', RATE_WINDOW_MS))
  const guesses = createRateLimiter(shared.openWindows('login guess by address', HOUR_MS))
  const limits = createTenantLimitStore(db)
  const tokensOf = async (tenantId: string, userId: string) => ({
    today: await needs.usage.tokensToday(tenantId, userId),
    most: (await limits.of(tenantId, userId)).person,
  })
  const delivery = openDelivery(adapters, tenants)
  const links = createLinks(db, clock)
  const signup = createSignupPolicy(tenants, () => live.config().MB_SIGNUP)
  return {
    gate: sessionGate({ sessions, roleIn, origins, contexts, uploads, limit: personLimit }),
    sessions: opened,
    prune: async () => void (await Promise.all([opened.prune(), links.prune()])),
    members: openMembers(adapters, { delivery, jobs, tenants, keys, talks }),
    people: createPeople({
      store: createPeopleStore(db),
      clock,
      nameOf,
      onEnded: keys.onRevoked,
      talks: { removal: talks.removalOfAll, clear: talks.clear },
      onGone: removal.wake,
      create: tenants.create,
      welcome(email) {
        if (delivery.medium() !== 'mail' || email.endsWith(LOCAL_DOMAIN)) return
        jobs.run('send welcome', (signal) => delivery.welcome(email, signal))
      },
      endSessions: opened.endAll,
      makeLink: links.make,
      flush: needs.usage.flush,
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
      tenants: {
        emailOf: tenants.emailOf,
        nameOf: tenants.nameOf,
        ofSession: tenants.ofSession,
        tenantsOf: tenants.tenantsOf,
        tokensOf,
      },
      sessions,
      opened,
      invitations,
      head: pages.head,
      auditCode,
      origins,
      ways: createWays(() => live.config().MB_SIGNIN),
      passkeys: createPasskeys({
        store: createPasskeyStore(db),
        challenges: createChallenges(shared.openCodes, clock),
        signup,
        clock,
      }),
      links,
      signup,
      clock,
      addressOf,
      addressLimit: addressLimit(addresses, addressOf),
      guessLimit: guessLimit(guesses, addressOf, LOGIN_GUESSES_PER_HOUR_MAX),
    },
  }
}

function warnOfPlainHttp(config: Config, log: Logger) {
  if (config.MB_COOKIE_SECURE === 'false') {
    log.warn('session cookies travel over plain http', { setting: 'MB_COOKIE_SECURE' })
  }
  if (config.MB_OIDC_ISSUER?.startsWith('http:')) {
    log.warn('the login provider is asked over plain http', { setting: 'MB_OIDC_ISSUER' })
  }
}

/** Sends codes and invitations by mail, or shows codes on the terminal. */
function openDelivery({ live, mailer, printCode, log, mailHealth }: Adapters, tenants: Tenants) {
  return createDelivery({
    mailer,
    print: printCode,
    site: () => live.config().MB_PUBLIC_URL,
    log,
    health: mailHealth,
    async isOperator(email) {
      const known = await tenants.byEmail(email)
      return known?.operator === true && !known.disabled
    },
    hasOperator: tenants.hasOperator,
  })
}

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
