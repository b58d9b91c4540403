import * as client from 'openid-client'
import { isModest } from '../../core/json.ts'
import { readStart } from '../net/read-start.ts'
import { IdentityFailure, type LoginAttempt } from '../ports/identity.ts'

/** Keys of an issuer are the longest of its answers: some kilobytes. */
const ANSWER_BYTES_MAX = 1024 * 1024
/** Seconds that one request to a provider may take. */
export const PROVIDER_SECONDS_MAX = 10

export type Fetch = typeof fetch

/** Redirects of a provider's endpoints are not followed, and their answers read only so far. */
export const fetchWith =
  (fetcher: Fetch): client.CustomFetch =>
  async (url, { body, headers, method, redirect, signal }) => {
    const response = await fetcher(url, {
      headers,
      method,
      redirect,
      ...(body ? { body: body as BodyInit } : {}),
      ...(signal ? { signal } : {}),
    })
    return bounded(response)
  }

/** The library reads and parses whatever comes; a provider may send without end. */
async function bounded(response: Response): Promise<Response> {
  const text = await readStart(response, ANSWER_BYTES_MAX + 1)
  if (Buffer.byteLength(text) > ANSWER_BYTES_MAX || !isModest(text)) {
    throw new IdentityFailure('unavailable', 'answer_too_large')
  }
  const headers = new Headers(response.headers)
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(text === '' ? null : text, { status: response.status, headers })
}

/** State and PKCE S256 always; what else depends on the provider. */
export async function authorizationParameters(attempt: LoginAttempt, redirectUri: string) {
  return {
    redirect_uri: redirectUri,
    response_type: 'code',
    state: attempt.state,
    code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
  }
}

/** Errors by which the library says that the network or the server failed, not the login. */
const UNAVAILABLE = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM'])

/** Runs a step of a login; whatever it throws becomes an `IdentityFailure`. */
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
