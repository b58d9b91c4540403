import { expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { startSigning } from '../support/mcp-signing.ts'
import { hasPostgres, postgresSettings } from '../support/postgres.ts'
import { tempFolder } from '../support/temp.ts'

/** PGlite has one session, so two servers cannot share it. */
const ofServers = test.skipIf(!hasPostgres())

ofServers('two servers refresh a token of an MCP server once', async () => {
  using folder = tempFolder()
  const env = { ...(await postgresSettings(folder.path)), MB_DATA_DIR: folder.path }
  const all = await startSigning(env)
  try {
    const { clock } = all
    const shared = { ...env, MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
    await using second = await startApp({ env: shared, clock })
    all.issuer.lasts(120)
    const me = await all.tenant()
    const { id } = await me.signed()
    clock.advance(121_000)
    all.issuer.asked.length = 0
    const there = caller(`${second.url}/v1`, me.key.headers)
    const both = [me.api, there, me.api, there]
    const path = `/mcp-servers/${id}/refresh`
    const answers = await Promise.all(both.map((ask) => ask('POST', path)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(all.issuer.paths()).toEqual(['/token'])
  } finally {
    await all.stop()
  }
})

ofServers('a way to an issuer that began at one server ends at the other', async () => {
  using folder = tempFolder()
  const env = { ...(await postgresSettings(folder.path)), MB_DATA_DIR: folder.path }
  const all = await startSigning(env)
  try {
    const shared = { ...env, MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
    await using second = await startApp({ env: shared, clock: all.clock })
    const me = await all.tenant()
    all.guard()
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { url, cookie } = await me.signIn(id)
    const place = new URL(all.issuer.consents(url))
    place.port = new URL(second.url).port
    expect(await me.back(place, cookie)).toBe(`/app/tools?signed_in=${id}`)
  } finally {
    await all.stop()
  }
})
