import { IdentityFailure, type IdentityProvider } from '../../channels/ports/identity.ts'
import { randomToken } from '../../core/crypto.ts'
import { notFound } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { LOCAL_DOMAIN, normalEmail } from './model.ts'
import { safePath } from './next-path.ts'
import type { Flows } from './oauth-state.ts'
import type { Admission } from './signup-policy.ts'

export interface OAuthOptions {
  readonly providers: readonly IdentityProvider[]
  readonly flows: Flows
  readonly admission: Admission
  readonly log: Logger
}

/** Why a login came to nothing, for the login page to explain. */
export type LoginError =
  | 'denied'
  | 'expired'
  | 'failed'
  | 'provider_unavailable'
  | 'signup_closed'
  | 'unverified_email'

export interface Departure {
  readonly location: string
  /** For the cookie of the browser that leaves; null when it stays. */
  readonly sealed: string | null
}

export interface Arrival {
  readonly location: string
  /** Who is signed in from now on; null after an error. */
  readonly userId: string | null
}

class LoginRefusal extends Error {
  constructor(readonly word: LoginError) {
    super(word)
  }
}

/** Login by redirect (contract, Login): every way it can end is a place to send the browser. */
export function createOAuthLogin({ providers, flows, admission, log }: OAuthOptions) {
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

  async function signedIn(id: string, sealed: readonly string[], callback: URL): Promise<Arrival> {
    const provider = providers.find((one) => one.id === id)
    const opened = await Promise.all(sealed.map(flows.open))
    const state = callback.searchParams.get('state')
    const flow = opened.find((one) => one?.provider === id && one.state === state)
    if (!provider || !flow) throw new LoginRefusal('expired')
    const email = normalEmail((await provider.verifiedEmail(flow, callback)) ?? '')
    if (email === null || email.endsWith(LOCAL_DOMAIN)) throw new LoginRefusal('unverified_email')
    const user = await admission.admit(email)
    if (!user) throw new LoginRefusal('signup_closed')
    return { location: flow.next, userId: user.user_id }
  }

  return {
    list: providers.map(({ id, name }) => ({ id, name })),

    /** Sends the browser to the provider. Throws `not_found` when it is not configured. */
    async depart(id: string, redirectUri: string, next: string | null): Promise<Departure> {
      const provider = providers.find((one) => one.id === id)
      if (!provider) throw notFound('未配置该登录方式')
      const attempt = {
        state: randomToken(32),
        nonce: randomToken(32),
        verifier: randomToken(32),
      }
      try {
        const location = (await provider.authorizationUrl(attempt, redirectUri)).href
        const sealed = await flows.seal({ provider: id, ...attempt, next: safePath(next) })
        return { location, sealed }
      } catch (error) {
        return { location: errorPage(error, id), sealed: null }
      }
    },

    /** Receives the browser back. `sealed` is what its cookies hold. Never throws. */
    async arrive(id: string, sealed: readonly string[], callback: URL): Promise<Arrival> {
      try {
        return await signedIn(id, sealed, callback)
      } catch (error) {
        return { location: errorPage(error, id), userId: null }
      }
    },
  }
}

export type OAuthLogin = ReturnType<typeof createOAuthLogin>
