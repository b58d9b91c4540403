import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

const CLIENT_ID = 'moonbase'
const CLIENT_SECRET = 'a-secret-of-the-issuer-and-moonbase'

/** How the client sends its secret to the token endpoint; the issuer refuses other methods. */
export type SecretMethod = 'client_secret_basic' | 'client_secret_post'

/** The claims of the person who signs in next. */
export interface Person {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
}

/**
 * A real OpenID provider on a local port, whose login page signs `person` in without a prompt. Call
 * `open(redirectUri)` after Moonbase has started, when its address is known.
 */
export async function startIssuer() {
  const state: { person: Person | null; provider: Provider | null } = {
    person: null,
    provider: null,
  }
  const server = createServer((request, response) => {
    const { provider } = state
    if (!provider) return void response.writeHead(503).end()
    if (!request.url?.startsWith('/interaction/')) {
      return void provider.callback()(request, response)
    }
    void interact(provider, state.person, request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    settings: {
      MB_OIDC_ISSUER: url,
      MB_OIDC_CLIENT_ID: CLIENT_ID,
      MB_OIDC_CLIENT_SECRET: CLIENT_SECRET,
    },
    open(redirectUri: string, method: SecretMethod = 'client_secret_basic') {
      state.provider = createProvider(url, redirectUri, method, () => state.person)
    },
    signsIn(person: Person | null) {
      state.person = person
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function createProvider(
  url: string,
  redirectUri: string,
  method: SecretMethod,
  person: () => Person | null,
): Provider {
  return new Provider(url, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: method,
      },
    ],
    clientAuthMethods: [method],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a-key-for-tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...person(), sub }) }),
  })
}

/** Signs the person in and grants all scopes; denies access without a person. */
async function interact(
  provider: Provider,
  person: Person | null,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { prompt, params, grantId } = await provider.interactionDetails(request, response)
  if (!person) {
    const result = { error: 'access_denied', error_description: 'the person said no' }
    return provider.interactionFinished(request, response, result)
  }
  if (prompt.name === 'login') {
    const result = { login: { accountId: person.sub } }
    return provider.interactionFinished(request, response, result)
  }
  const grant =
    (grantId && (await provider.Grant.find(grantId))) ||
    new provider.Grant({ accountId: person.sub, clientId: String(params.client_id) })
  grant.addOIDCScope('openid email')
  const result = { consent: { grantId: await grant.save() } }
  return provider.interactionFinished(request, response, result, {
    mergeWithLastSubmission: true,
  })
}
