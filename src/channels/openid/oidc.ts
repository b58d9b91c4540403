import * as client from 'openid-client'
import { z } from 'zod'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import type { IdentityProvider } from '../../upstream/ports/identity.ts'
import { authorizationParameters, fetchWith, PROVIDER_SECONDS_MAX, step } from './client.ts'

export interface OidcOptions {
  readonly fetch: UpstreamFetch
  readonly id: string
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client, which only PKCE protects. */
  readonly clientSecret: string | undefined
}

/** Any OpenID issuer by discovery (OpenID Connect Core 1.0, Discovery 1.0). */
export function createOidcProvider(options: OidcOptions): IdentityProvider {
  const { fetch: fetcher, id, name, issuer, clientId, clientSecret } = options
  let known: client.Configuration | null = null

  /** Discovered at the first login: a server that starts makes no request by itself. */
  async function configuration(): Promise<client.Configuration> {
    if (known) return known
    const server = new URL(issuer)
    known = await client.discovery(server, clientId, {}, authentication(clientSecret), {
      [client.customFetch]: fetchWith(fetcher),
      timeout: PROVIDER_SECONDS_MAX,
      execute: [
        client.enableNonRepudiationChecks,
        ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    })
    return known
  }

  return {
    id,
    name,
    authorizationUrl: (attempt, redirectUri) =>
      step(async () =>
        client.buildAuthorizationUrl(await configuration(), {
          ...authorizationParameters(attempt, redirectUri),
          nonce: attempt.nonce,
          scope: 'openid email',
        }),
      ),
    verifiedEmail: (attempt, callback) =>
      step(async () => {
        const config = await configuration()
        const tokens = await client.authorizationCodeGrant(config, callback, {
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          pkceCodeVerifier: attempt.verifier,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims) return null
        if (claims.email !== undefined) return verified(claims)
        if (!config.serverMetadata().userinfo_endpoint) return null
        return verified(await client.fetchUserInfo(config, tokens.access_token, claims.sub))
      }),
  }
}

/** Only a plain `true` counts; an issuer that omits the claim has verified nothing. */
const Verified = z.object({ email: z.string(), email_verified: z.literal(true) })

const verified = (claims: unknown): string | null => Verified.safeParse(claims).data?.email ?? null

/** Sends the secret as the issuer supports it; Basic by default (Discovery 1.0, section 3). */
function authentication(secret: string | undefined): client.ClientAuth {
  if (secret === undefined) return client.None()
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, metadata, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic') ? basic : post
    authenticate(server, metadata, body, headers)
  }
}
