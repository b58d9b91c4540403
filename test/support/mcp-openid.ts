import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

interface OpenIdOptions {
  /** The MCP server that tokens are for. */
  readonly resource: string
  /** A client that is known before, for a provider that registers nobody. */
  readonly client?: { readonly id: string; readonly redirect: string }
}

/**
 * A real OpenID provider as authorization server of an MCP server; its pages sign a person in and
 * grant everything without a question.
 */
export async function startMcpOpenId({ resource, client }: OpenIdOptions) {
  const state: { provider: Provider | null } = { provider: null }
  const server = createServer(async (request, response) => {
    const { provider } = state
    if (!provider) return void response.writeHead(503).end()
    if (!request.url?.startsWith('/interaction/')) {
      return void provider.callback()(request, response)
    }
    const { prompt, params } = await provider.interactionDetails(request, response)
    if (prompt.name === 'login') {
      const result = { login: { accountId: 'somebody' } }
      return provider.interactionFinished(request, response, result)
    }
    const grant = new provider.Grant({ accountId: 'somebody', clientId: String(params.client_id) })
    grant.addOIDCScope('openid offline_access')
    grant.addResourceScope(resource, 'tools')
    const result = { consent: { grantId: await grant.save() } }
    return provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: true,
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const granted = new Set<string>()
  const provider = new Provider(url, {
    clients: client
      ? [
          {
            client_id: client.id,
            redirect_uris: [client.redirect],
            token_endpoint_auth_method: 'none',
            grant_types: ['authorization_code', 'refresh_token'],
            application_type: 'native',
          },
        ]
      : [],
    pkce: { required: () => true },
    cookies: { keys: ['a-key-for-tests'] },
    scopes: ['openid', 'offline_access'],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: !client },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'tools', accessTokenFormat: 'opaque' }),
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  })
  provider.on('access_token.saved', ({ jti }) => granted.add(jti))
  state.provider = provider

  return {
    url,
    accepts: (header: string | null) => granted.has((header ?? '').replace(/^Bearer /, '')),
    forgetTokens: () => granted.clear(),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Goes where a browser is sent, with the provider's cookies, until `end` is reached. */
export async function browse(start: string, end: string): Promise<URL> {
  const jar = new Map<string, string>()
  let place = new URL(start)
  for (let hop = 0; hop < 12; hop++) {
    if (place.href.startsWith(end)) return place
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const answer = await fetch(place, { redirect: 'manual', headers: { cookie } })
    for (const one of answer.headers.getSetCookie()) {
      const [pair = ''] = one.split(';')
      const [name = '', value = ''] = pair.split('=')
      jar.set(name, value)
    }
    const next = answer.headers.get('location')
    if (next === null) throw new Error(`${answer.status} ${(await answer.text()).slice(0, 500)}`)
    place = new URL(next, place)
  }
  throw new Error('too many redirects')
}
