/** The secrets of one visit to a provider's login page, kept by the browser that began it. */
export interface LoginAttempt {
  readonly state: string
  readonly nonce: string
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string
}

/** A third party at which people sign in. */
export interface IdentityProvider {
  readonly id: string
  /** Shown on the button of the login page. */
  readonly name: string
  /** Where to send the browser. Throws `IdentityFailure`. */
  authorizationUrl(attempt: LoginAttempt, redirectUri: string): Promise<URL>
  /**
   * The e-mail address that the provider has verified, or null when it has verified none.
   * `callback` is the redirect URI with the parameters that the provider added. Throws
   * `IdentityFailure`.
   */
  verifiedEmail(attempt: LoginAttempt, callback: URL): Promise<string | null>
}

/**
 * `denied`: the person said no. `unavailable`: the provider does not answer. `refused`: an answer
 * that does not belong to this attempt or cannot be trusted.
 */
export type IdentityReason = 'denied' | 'unavailable' | 'refused'

/** A login that failed at the provider. */
export class IdentityFailure extends Error {
  override readonly name = 'IdentityFailure'

  constructor(
    readonly reason: IdentityReason,
    /** A fixed code for the log, never the provider's words. */
    readonly code: string,
  ) {
    super(`login provider: ${reason} (${code})`)
  }
}
