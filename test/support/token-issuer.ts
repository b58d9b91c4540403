/**
 * A strict authorization server for MCP servers, in place of a stranger's: it checks the resource,
 * PKCE, the redirect address and that codes and refresh tokens are used once. Every secret contains
 * the word SECRET.
 */
import { sha256Base64Url } from '../../src/core/crypto.ts'

interface Code {
  readonly client: string
  readonly redirect: string
  readonly challenge: string
  readonly resource: string
}

type Fault = (request: Request, form: URLSearchParams) => Response | Promise<Response> | null

export type TokenIssuer = ReturnType<typeof startTokenIssuer>

/** `using issuer = startTokenIssuer()`; `resource` is set when the MCP server has started. */
export function startTokenIssuer() {
  const codes = new Map<string, Code>()
  const refreshes = new Map<string, string>()
  const access = new Set<string>()
  const clients = new Map<string, { redirects: string[]; secret: string | null }>()
  const asked: { path: string; form: URLSearchParams; headers: Headers }[] = []
  let metadata: Record<string, unknown> = {}
  let resource = ''
  let lifetime = 3600
  let serial = 0
  let fault: Fault = () => null

  const refuse = (error: string) => Response.json({ error }, { status: 400 })

  function give(client: string, withRefresh: boolean) {
    const token = `SECRET-access-${++serial}`
    access.add(token)
    const refresh = `SECRET-refresh-${serial}`
    if (withRefresh) refreshes.set(refresh, client)
    const more = withRefresh ? { refresh_token: refresh } : {}
    return Response.json({
      access_token: token,
      token_type: 'Bearer',
      expires_in: lifetime,
      ...more,
    })
  }

  function clientOf(request: Request, form: URLSearchParams): string | null {
    const basic = /^Basic (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    const [name, secret] = basic
      ? Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
      : [form.get('client_id') ?? '', form.get('client_secret')]
    const known = clients.get(name ?? '')
    return known && (known.secret ?? null) === (secret ?? null) ? (name ?? null) : null
  }

  function token(request: Request, form: URLSearchParams): Response {
    const client = clientOf(request, form)
    if (client === null) return Response.json({ error: 'invalid_client' }, { status: 401 })
    if (form.get('resource') !== resource) return refuse('invalid_target')
    if (form.get('grant_type') === 'client_credentials') return give(client, false)
    if (form.get('grant_type') === 'refresh_token') {
      const refresh = form.get('refresh_token') ?? ''
      if (refreshes.get(refresh) !== client) return refuse('invalid_grant')
      refreshes.delete(refresh)
      return give(client, true)
    }
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const isRight =
      code?.client === client &&
      code.redirect === form.get('redirect_uri') &&
      code.resource === resource &&
      code.challenge === sha256Base64Url(form.get('code_verifier') ?? '')
    return isRight ? give(client, true) : refuse('invalid_grant')
  }

  async function register(request: Request): Promise<Response> {
    const body = (await request.json()) as { redirect_uris: string[] }
    const client_id = `client-${++serial}`
    clients.set(client_id, { redirects: body.redirect_uris, secret: null })
    return Response.json({ ...body, client_id }, { status: 201 })
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const isForm = request.headers.get('content-type')?.includes('form') ?? false
    const form = new URLSearchParams(isForm ? await request.text() : '')
    asked.push({ path: pathname, form, headers: request.headers })
    const broken = await fault(request, form)
    if (broken) return broken
    if (pathname === '/.well-known/oauth-authorization-server') return Response.json(metadata)
    if (pathname === '/token') return token(request, form)
    if (pathname === '/register') return register(request)
    if (pathname === '/revoke') {
      refreshes.delete(form.get('token') ?? '')
      return new Response(null)
    }
    return new Response(null, { status: 404 })
  }

  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
  const url = `http://127.0.0.1:${server.port}`
  const usual = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    registration_endpoint: `${url}/register`,
    revocation_endpoint: `${url}/revoke`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
  }
  metadata = usual

  return {
    url,
    asked,
    paths: () => asked.map(({ path }) => path),
    accepts: (header: string | null) => access.has((header ?? '').replace(/^Bearer /, '')),
    /** Ends all access tokens, as an issuer does that was restarted. */
    forgetTokens: () => access.clear(),
    forgetRefreshes: () => refreshes.clear(),
    protects(next: string): void {
      resource = next
    },
    lasts(seconds: number): void {
      lifetime = seconds
    },
    fails(next: Fault): void {
      fault = next
    },
    says(more: Record<string, unknown>): void {
      metadata = { ...usual, ...more }
    },
    knows(id: string, secret: string | null, redirects: string[] = []): void {
      clients.set(id, { redirects, secret })
    },
    /** The person says yes on the page at `place`; returns where the browser goes next. */
    consents(place: string, more: Record<string, string | null> = {}): URL {
      const query = new URL(place).searchParams
      const text = (name: string) => query.get(name) ?? ''
      if (text('code_challenge_method') !== 'S256') throw new Error('no PKCE')
      const code = `SECRET-code-${++serial}`
      codes.set(code, {
        client: text('client_id'),
        redirect: text('redirect_uri'),
        challenge: text('code_challenge'),
        resource: text('resource'),
      })
      const back = new URL(text('redirect_uri'))
      const said = { code, state: text('state'), iss: url, ...more }
      for (const [name, value] of Object.entries(said)) {
        if (value !== null) back.searchParams.set(name, value)
      }
      return back
    },
    reset(): void {
      asked.length = 0
      metadata = usual
      lifetime = 3600
      fault = () => null
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}
