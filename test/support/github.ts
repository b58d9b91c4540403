import { createHash } from 'node:crypto'

export const GITHUB_SETTINGS = {
  MB_GITHUB_CLIENT_ID: 'gh-client',
  MB_GITHUB_CLIENT_SECRET: 'gh-secret-of-the-app',
}

export interface GithubEmail {
  readonly email: string
  readonly primary: boolean
  readonly verified: boolean
}

/**
 * GitHub's login endpoints on a local port, and a `fetch` that sends requests for github.com there.
 * They check what GitHub checks: client, secret, code, redirect address and PKCE.
 */
export function startGithub() {
  const codes = new Map<string, { challenge: string; redirectUri: string }>()
  const state: { emails: readonly GithubEmail[]; down: boolean } = { emails: [], down: false }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/login/oauth/access_token': async (request) => {
        const body = new URLSearchParams(await request.text())
        const code = codes.get(body.get('code') ?? '')
        codes.delete(body.get('code') ?? '')
        const challenge = createHash('sha256').update(body.get('code_verifier') ?? '')
        const right =
          code?.challenge === challenge.digest('base64url') &&
          code.redirectUri === body.get('redirect_uri') &&
          body.get('client_id') === GITHUB_SETTINGS.MB_GITHUB_CLIENT_ID &&
          body.get('client_secret') === GITHUB_SETTINGS.MB_GITHUB_CLIENT_SECRET
        // GitHub reports refusals with status 200.
        return right
          ? Response.json({ access_token: 'gho_1', token_type: 'bearer', scope: 'user:email' })
          : Response.json({ error: 'bad_verification_code', error_description: 'secret words' })
      },
      '/user/emails': (request) =>
        state.down
          ? new Response('Unicorn!', { status: 503 })
          : request.headers.get('authorization')?.toLowerCase() === 'bearer gho_1'
            ? Response.json(state.emails)
            : new Response('Bad credentials', { status: 401 }),
    },
    fetch: () => new Response('not here', { status: 404 }),
  })

  const toStandIn = (input: string | URL | Request, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const ours = ['github.com', 'api.github.com'].includes(url.hostname)
    return fetch(ours ? new URL(url.pathname + url.search, server.url) : input, init)
  }

  return {
    state,
    fetch: Object.assign(toStandIn, { preconnect: fetch.preconnect }),
    /** The address that GitHub sends a person back to after they agree. */
    agree(location: string): string {
      const query = new URL(location).searchParams
      const code = crypto.randomUUID()
      const redirectUri = query.get('redirect_uri') ?? ''
      codes.set(code, { challenge: query.get('code_challenge') ?? '', redirectUri })
      const state = query.get('state') ?? ''
      return `${redirectUri}?${new URLSearchParams({ code, state })}`
    },
    stop: () => server.stop(true),
  }
}
