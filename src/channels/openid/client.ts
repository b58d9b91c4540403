import * as client from 'openid-client'
import { sha256Base64Url } from '../../core/crypto.ts'
import { hasBoundedStructure } from '../../core/json.ts'
import { readStart, type UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { IdentityFailure, type LoginAttempt } from '../../upstream/ports/identity.ts'

/** The largest answer of an issuer, its key set, has a few kilobytes. */
const ANSWER_BYTES_MAX = 1024 * 1024
/** Time limit of one request to a provider. */
export const PROVIDER_SECONDS_MAX = 10

/** A fetch for `openid-client` that bounds what it reads of an answer. */
export const fetchWith =
  (fetch: UpstreamFetch): client.CustomFetch =>
  async (url, { body, headers, method, signal }) => {
    const response = await fetch(url, {
      headers,
      method,
      ...(body ? { body: body as BodyInit } : {}),
      ...(signal ? { signal } : {}),
    })
    return bounded(response)
  }

/** Bounds an answer before the library reads it, which reads and parses without a limit. */
async function bounded(response: Response): Promise<Response> {
  const text = await readStart(response, ANSWER_BYTES_MAX + 1)
  if (Buffer.byteLength(text) > ANSWER_BYTES_MAX || !hasBoundedStructure(text)) {
    throw new IdentityFailure('unavailable', 'answer_too_large')
  }
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  return new Response(text === '' ? null : text, { status: response.status, headers })
}

/** The parameters that every provider gets: state, and PKCE with S256 (RFC 7636). */
export function authorizationParameters(attempt: LoginAttempt, redirectUri: string) {
  return {
    redirect_uri: redirectUri,
    response_type: 'code',
    state: attempt.state,
    code_challenge: sha256Base64Url(attempt.verifier),
    code_challenge_method: 'S256',
  }
}

/** The library's error codes for a failed network or server, as opposed to a failed login. */
const UNAVAILABLE = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM'])

/** Runs a step of a login and turns every error into an `IdentityFailure`. */
export async function step<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof IdentityFailure) throw error
    if (error instanceof client.AuthorizationResponseError) {
      const denied = error.error === 'access_denied'
      throw new IdentityFailure(denied ? 'denied' : 'refused', 'authorization_response')
    }
    const code = (error as { code?: unknown } | null)?.code
    const known = typeof code === 'string' && /^[A-Za-z_]{1,60}$/.test(code) ? code : 'unknown'
    const down = UNAVAILABLE.has(known) || !known.startsWith('OAUTH_')
    throw new IdentityFailure(down ? 'unavailable' : 'refused', known)
  }
}
