import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { browse, startMcpOpenId } from '../support/mcp-openid.ts'
import { startSigning } from '../support/mcp-signing.ts'

let all: Awaited<ReturnType<typeof startSigning>>

beforeAll(async () => {
  all = await startSigning()
})
afterEach(() => all.reset())
afterAll(() => all.stop())

test.each(['registers clients', 'knows one client'])('an OpenID provider that %s', async (kind) => {
  const me = await all.tenant()
  const redirect = `${all.app.url}/auth/mcp/callback`
  const client = kind === 'knows one client' ? { id: 'moonbase', redirect } : null
  const resource = all.server.url
  const provider = await startMcpOpenId({ resource, ...(client ? { client } : {}) })
  try {
    all.guard({ authorization_servers: [provider.url] }, provider.accepts)
    const more = client ? { client_id: client.id } : {}
    const { id } = await me.add(all.server.url, { auth: 'oauth', ...more })
    const { url, cookie } = await me.signIn(id)
    expect(await me.back(await browse(url, redirect), cookie)).toBe(`/app/tools?signed_in=${id}`)
    expect(await me.read(id)).toMatchObject({ state: 'ready', tools: [{ name: 'echo' }] })
    provider.forgetTokens()
    expect((await me.api('POST', `/mcp-servers/${id}/refresh`)).status).toBe(200)
    await me.console('DELETE', `/mcp-servers/${id}/sign-in`)
    expect(await me.read(id)).toMatchObject({ state: 'sign_in', signed_in: false })
  } finally {
    await provider.stop()
  }
})
