import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { startSigning } from '../support/mcp-signing.ts'

const BOX = 'https://box.example'
const DOCUMENT = `${BOX}/oauth/mcp-client.json`

let all: Awaited<ReturnType<typeof startSigning>>
beforeAll(async () => {
  all = await startSigning({ MB_PUBLIC_URL: BOX })
})
afterEach(() => all.reset())
afterAll(() => all.stop())

/** Signs in at an issuer; which client the browser is sent there as, and where it ends. */
async function signed() {
  const me = await all.tenant()
  all.guard()
  all.issuer.asked.length = 0
  const { id } = await me.add(all.server.url, { auth: 'oauth' })
  const { url, cookie } = await me.signIn(id)
  const { pathname, search, origin } = all.issuer.consents(url)
  const back = await me.back(new URL(pathname + search, all.app.url), cookie)
  expect([origin, back]).toEqual([BOX, `/app/tools?signed_in=${id}`])
  return new URL(url).searchParams.get('client_id')
}

test('an issuer that reads documents of clients registers nobody', async () => {
  const told = await (await fetch(`${all.app.url}/oauth/mcp-client.json`)).json()
  expect(told).toEqual({
    client_id: DOCUMENT,
    client_name: 'Moonbase',
    redirect_uris: [`${BOX}/auth/mcp/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
  all.issuer.says({ client_id_metadata_document_supported: true })
  all.issuer.knows(DOCUMENT, null)
  expect(await signed()).toBe(DOCUMENT)
  expect(all.issuer.paths()).not.toContain('/register')
})

test('an issuer that does not say that it reads them registers a client', async () => {
  expect(await signed()).toStartWith('client-')
  expect(all.issuer.paths()).toContain('/register')
})

test.each(['', 'http://box.example'])('there is no document at the address "%s"', async (url) => {
  await using app = await startApp(url === '' ? {} : { env: { MB_PUBLIC_URL: url } })
  expect((await fetch(`${app.url}/oauth/mcp-client.json`)).status).toBe(404)
})
