import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { createSeal, randomToken } from '../../core/crypto.ts'
import { LOCAL_DOMAIN, normalEmail } from '../../core/email.ts'
import { appError } from '../../core/errors.ts'
import { NEXT_PATH_CHARS_MAX, OAUTH_FLOW_SECONDS_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { IdentityFailure, type IdentityProvider } from '../../upstream/ports/identity.ts'
import type { SignedInUser } from '../tenants/service.ts'
import type { SignupPolicy } from './signup-policy.ts'

export interface OAuthOptions {
  readonly providers: readonly IdentityProvider[]
  readonly clock: Pick<Clock, 'now'>
  /** Seals the cookie of a login under way; 32 bytes. */
  readonly key: Uint8Array
  readonly signup: SignupPolicy
  readonly log: Logger
}

/** Why a login failed, for the login page to explain. */
export type LoginError =
  | 'denied'
  | 'expired'
  | 'failed'
  | 'provider_unavailable'
  | 'signup_closed'
  | 'unverified_email'

/** Where to send a browser that starts a login. */
export interface LoginStart {
  readonly location: string
  /** The state cookie; null when the login could not start. */
  readonly sealed: string | null
}

/** Where to send a browser that comes back from a provider. */
export interface LoginEnd {
  readonly location: string
  /** Who is signed in now; null after an error. */
  readonly user: SignedInUser | null
}

class LoginRefusal extends Error {
  constructor(readonly word: LoginError) {
    super(word)
  }
}

/** Login by redirect: every outcome is a location to send the browser to. */
export function createOAuthLogin({ providers, clock, key, signup, log }: OAuthOptions) {
  const states = sealedStates(clock, key)

  function wordFor(error: unknown, provider: string): LoginError {
    if (error instanceof LoginRefusal) return error.word
    if (!(error instanceof IdentityFailure)) {
      log.error('login failed', { provider, ...errorFields(error) })
      return 'failed'
    }
    log.warn('login refused', { provider, reason: error.reason, code: error.code })
    if (error.reason === 'denied') return 'denied'
    return error.reason === 'unavailable' ? 'provider_unavailable' : 'failed'
  }
  const errorPage = (error: unknown, provider: string) => `/login?error=${wordFor(error, provider)}`

  async function signIn(id: string, sealed: readonly string[], callback: URL): Promise<LoginEnd> {
    const provider = providers.find((one) => one.id === id)
    const asked = callback.searchParams.get('state')
    const state = sealed.map(states.open).find((s) => s?.provider === id && s.state === asked)
    if (!provider || !state) throw new LoginRefusal('expired')
    const email = normalEmail((await provider.verifiedEmail(state, callback)) ?? '')
    if (email === null || email.endsWith(LOCAL_DOMAIN)) throw new LoginRefusal('unverified_email')
    const user = await signup.admit(email)
    if (!user) throw new LoginRefusal('signup_closed')
    return { location: state.next, user }
  }

  return {
    list: providers.map(({ id, name }) => ({ id, name })),

    /** Sends the browser to the provider. Throws `not_found` when it is not configured. */
    async start(id: string, redirectUri: string, next: string | null): Promise<LoginStart> {
      const provider = providers.find((one) => one.id === id)
      if (!provider) throw appError('login_method_unknown')
      const attempt = {
        state: randomToken(32),
        nonce: randomToken(32),
        verifier: randomToken(32),
      }
      try {
        const location = (await provider.authorizationUrl(attempt, redirectUri)).href
        const sealed = states.seal({ provider: id, ...attempt, next: safePath(next) })
        return { location, sealed }
      } catch (error) {
        return { location: errorPage(error, id), sealed: null }
      }
    },

    /** Receives the browser back; `sealed` holds its state cookies. Never throws. */
    async finish(id: string, sealed: readonly string[], callback: URL): Promise<LoginEnd> {
      try {
        return await signIn(id, sealed, callback)
      } catch (error) {
        return { location: errorPage(error, id), user: null }
      }
    },
  }
}

export type OAuthLogin = ReturnType<typeof createOAuthLogin>

/** One visit to a provider's login page: its secrets, and where to go afterwards. */
const LoginState = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  expiresAt: z.number(),
})
type LoginState = z.infer<typeof LoginState>

/**
 * The state of a login, sealed into a cookie: only the browser that started a login can finish it,
 * and the server stores nothing that strangers could fill.
 */
function sealedStates(clock: Pick<Clock, 'now'>, key: Uint8Array) {
  const { seal, open } = createSeal(key)
  return {
    seal(state: Omit<LoginState, 'expiresAt'>): string {
      const expiresAt = clock.now() + OAUTH_FLOW_SECONDS_MAX * 1000
      const text = JSON.stringify({ ...state, expiresAt })
      return Buffer.from(seal(text, OWNER)).toString('base64url')
    },

    /** Null for a cookie that this server did not seal, or sealed too long ago. */
    open(cookie: string): LoginState | null {
      const text = open(Buffer.from(cookie, 'base64url'), OWNER)
      const state = text === null ? null : LoginState.safeParse(JSON.parse(text)).data
      return state && state.expiresAt > clock.now() ? state : null
    },
  }
}

const OWNER = 'login state'
const HERE = 'http://here.invalid'

/**
 * Where to go after a login: a path of this site, else its root. Resolved the way a browser does
 * it, because `//host`, `/\\host` and `/.//host` look like paths and name other sites.
 */
export function safePath(text: string | null): string {
  if (text === null || text.length > NEXT_PATH_CHARS_MAX || !text.startsWith('/')) return '/'
  const url = URL.parse(text, HERE)
  if (url?.origin !== HERE) return '/'
  const path = url.pathname + url.search + url.hash
  return path.startsWith('//') ? '/' : path
}
