import type { OidcOptions } from '../channels/openid/oidc.ts'
import type { Config } from '../config.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { IdentityProvider } from '../upstream/ports/identity.ts'

type OidcClient = Pick<OidcOptions, 'issuer' | 'clientId' | 'clientSecret'>

/** The configured providers, in the order of the login page. */
export function identityProviders(config: Config, fetch: UpstreamFetch): IdentityProvider[] {
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
