import { expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { ON_POSTGRES, startApp } from '../support/app.ts'
import { startSigning } from '../support/mcp-signing.ts'
import { tempFolder } from '../support/temp.ts'

test('who comes back from an issuer after a restart is told to sign in again', async () => {
  using folder = tempFolder()
  const env = { MB_DATA_DIR: folder.path, MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  const all = await startSigning(env)
  const me = await all.tenant()
  all.guard()
  const { id } = await me.add(all.server.url, { auth: 'oauth' })
  const { url, cookie } = await me.signIn(id)
  const place = all.issuer.consents(url)
  const { headers } = await all.app.person(me.email)
  await all.app[Symbol.asyncDispose]()
  await using next = await startApp({ env, clock: all.clock })
  place.port = new URL(next.url).port
  const done = `/app/tools?signed_in=${id}`
  // What is in memory here is in a database that several servers share.
  expect(await me.back(place, cookie)).toBe(ON_POSTGRES ? done : '/app/tools?error=expired')
  const console = caller(`${next.url}/console`, headers)
  const again = await console<{ url: string }>('POST', `/mcp-servers/${id}/sign-in`)
  const own = again.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(await me.back(all.issuer.consents(again.json().url), own)).toBe(done)
  expect(await me.back(place, cookie)).toBe('/app/tools?error=expired')
  await all.upstream.stop()
  all.server[Symbol.dispose]()
  all.issuer[Symbol.dispose]()
})
