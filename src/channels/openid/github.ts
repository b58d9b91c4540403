import * as client from 'openid-client'
import { z } from 'zod'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { IdentityFailure, type IdentityProvider } from '../../upstream/ports/identity.ts'
import { authorizationParameters, fetchWith, PROVIDER_SECONDS_MAX, step } from './client.ts'

export interface GithubOptions {
  readonly fetch: UpstreamFetch
  readonly clientId: string
  readonly clientSecret: string
}

const SITE = 'https://github.com/login/oauth'
const EMAILS = new URL('https://api.github.com/user/emails')
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

/** GitHub: OAuth 2 without id token or discovery; its API lists the e-mail addresses. */
export function createGithubProvider(options: GithubOptions): IdentityProvider {
  const { clientId, clientSecret } = options
  const config = new client.Configuration(
    {
      issuer: SITE,
      authorization_endpoint: `${SITE}/authorize`,
      token_endpoint: `${SITE}/access_token`,
    },
    clientId,
    {},
    client.ClientSecretPost(clientSecret),
  )
  config.timeout = PROVIDER_SECONDS_MAX
  config[client.customFetch] = fetchWith(options.fetch)

  return {
    id: 'github',
    name: 'GitHub',
    authorizationUrl: (attempt, redirectUri) =>
      step(async () =>
        client.buildAuthorizationUrl(config, {
          ...authorizationParameters(attempt, redirectUri),
          scope: 'user:email',
        }),
      ),
    verifiedEmail: (attempt, callback) =>
      step(async () => {
        const { access_token } = await client.authorizationCodeGrant(config, callback, {
          expectedState: attempt.state,
          pkceCodeVerifier: attempt.verifier,
        })
        const headers = new Headers({
          accept: 'application/vnd.github+json',
          'user-agent': 'moonbase',
        })
        const answer = await client.fetchProtectedResource(
          config,
          access_token,
          EMAILS,
          'GET',
          null,
          headers,
        )
        if (!answer.ok) throw new IdentityFailure('unavailable', `status_${answer.status}`)
        const emails = Emails.parse(await answer.json())
        const primary = emails.find((email) => email.primary && email.verified)
        return primary?.email ?? null
      }),
  }
}
