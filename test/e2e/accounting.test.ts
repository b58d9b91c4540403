import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { caller } from '../support/api.ts'
import { openBoxFile } from '../support/box-file.ts'
import { createKey } from '../support/key.ts'
import { signIn } from '../support/login.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream } from '../support/upstream.ts'

const HUGE = 9_007_199_254_740_991

test('huge counts of one endpoint spoil no others, also after a kill', async () => {
  using folder = tempFolder()
  const [platform, own] = await Promise.all([startUpstream(), startUpstream()])
  const env = { MB_LLM_BASE_URL: platform.baseUrl, MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  platform.chat.always({ text: 'ok', usage: { input: 60, output: 30 } })
  own.chat.always({ text: 'ok', usage: { input: HUGE, output: HUGE } })
  const options = { dataDir: folder.path, env }
  const { headers: liar } = await createKey(folder.path, { email: 'liar@example.com' })
  const { headers: good } = await createKey(folder.path, { email: 'good@example.com' })
  const turn = async (url: string, headers: typeof good) =>
    (await caller(`${url}/v1`, headers)('POST', '/agent', { text: 'hi' })).status
  {
    await using server = await startServer(options)
    const person = await signIn(server, 'good@example.com')
    const me = caller(`${server.url}/console`, { ...person.headers, origin: server.url })
    const { keys } = (await me<{ keys: { id: string }[] }>('GET', '/keys')).json()
    await me('PUT', `/keys/${keys[0]?.id}`, { daily_tokens: 500 })
    const call = caller(`${server.url}/v1`, liar)
    const provider = { base_url: own.baseUrl, api_key: 'k', model: 'm', failover: false }
    expect((await call('PUT', '/provider', provider)).status).toBeLessThan(300)
    for (let turns = 0; turns < 5; turns++) {
      expect(await Promise.all(Array.from({ length: 20 }, () => turn(server.url, liar)))).toEqual(
        Array.from({ length: 20 }, () => 200),
      )
      expect(await turn(server.url, good)).toBe(200)
    }
    await server.kill()
  }
  const db = openBoxFile(join(folder.path, 'moonbase.db'), { readonly: true })
  const sums = db
    .query(
      `SELECT sum(input_tokens) AS input, sum(output_tokens) AS output, count(last_used_at) AS used
        FROM usage_key_day u JOIN api_key k ON k.id = u.key_id
          LEFT JOIN key_use USING (tenant_id, key_id)
        WHERE k.daily_tokens = 500 AND channel = 'platform'`,
    )
    .get()
  db.close()
  expect(sums).toEqual({ input: 300, output: 150, used: 1 })
  await using server = await startServer(options)
  expect([await turn(server.url, good), await turn(server.url, good)]).toEqual([200, 429])
  expect(server.output()).not.toContain('not written')
  await Promise.all([platform.stop(), own.stop()])
}, 60_000)
