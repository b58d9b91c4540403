import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const HUGE = 9_007_199_254_740_991

let platform: Upstream
let own: Upstream
let app: TestApp
beforeAll(async () => {
  ;[platform, own] = await Promise.all([startUpstream(), startUpstream()])
  app = await startApp({
    upstream: platform.baseUrl,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
})
afterEach(() => {
  platform.reset()
  own.reset()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await Promise.all([platform.stop(), own.stop()])
})

interface Report {
  total: number
  tokens: { total: { input: number; output: number } }
  by_key: { key_id: string; input_tokens: number; output_tokens: number }[]
}
const reportOf = async (email: string) => {
  const { headers } = await app.person(email)
  return (await caller(`${app.url}/console`, headers)<Report>('GET', '/usage')).json()
}
const turn = async ({ headers }: TestKey) =>
  (await caller(`${app.url}/v1`, headers)('POST', '/agent', { text: 'hi' })).status

/** A tenant whose own endpoint is `own`. */
async function hostile(email: string): Promise<TestKey> {
  const key = await app.key(email)
  const body = { base_url: own.baseUrl, api_key: 'k', failover: false, model: 'm' }
  const put = await caller(`${app.url}/v1`, key.headers)('PUT', '/provider', body)
  expect([200, 201]).toContain(put.status)
  own.reset()
  return key
}

test('an endpoint that reports more tokens than there are is not believed', async () => {
  const key = await hostile('liar@example.com')
  const call = { name: 'calculator', arguments: { expression: '1+1' } }
  const usage = { input: HUGE, output: HUGE }
  for (let turns = 0; turns < 3; turns++) {
    for (let round = 0; round < 7; round++) own.reply({ toolCalls: [call], usage })
    own.reply({ text: 'ok', usage })
    expect(await turn(key)).toBe(200)
  }
  own.reply({ text: 'ok', usage: { input: 10_000_000, output: 10_000_001 } })
  await turn(key)
  own.reply({ text: 'ok', usage: { input: 10_000_000, output: 10_000_000 } })
  await turn(key)
  const { tokens } = await reportOf('liar@example.com')
  expect(tokens.total.input).toBeGreaterThan(10_000_000)
  expect(tokens.total.input).toBeLessThan(10_100_000)
  expect(tokens.total.output).toBeLessThan(10_100_000)
})

test('a count that is full keeps no other from being written', async () => {
  const liar = await hostile('full@example.com')
  await turn(liar)
  await reportOf('full@example.com')
  // As a version that believed any number has left it.
  for (const table of ['usage_day', 'usage_key_day']) {
    await app.db.run({
      sql: `UPDATE ${table} SET input_tokens = 9223372036854775807 WHERE tenant_id = ?`,
      args: [liar.tenantId],
    })
  }
  const good = await app.key('good@example.com')
  for (let turns = 1; turns <= 3; turns++) {
    platform.reply({ text: 'ok', usage: { input: 60, output: 30 } })
    expect([await turn(liar), await turn(good)]).toEqual([200, 200])
    await app.flush()
    const { total, tokens, by_key } = await reportOf('good@example.com')
    expect([total, tokens.total]).toEqual([turns, { input: 60 * turns, output: 30 * turns }])
    expect(by_key).toMatchObject([{ key_id: good.id, input_tokens: 60 * turns }])
  }
  expect(app.log()).not.toContain('not written')
  expect((await reportOf('full@example.com')).tokens.total.input).toBe(10 ** 15)
})

test('counts of a tenant that has gone keep no other from being written', async () => {
  const gone = await app.key('gone@example.com')
  const stays = await app.key('stays@example.com')
  expect(await turn(gone)).toBe(200)
  // Its row goes before the sums of the last second are written.
  await app.db.run({ sql: 'DELETE FROM tenant WHERE id = ?', args: [gone.tenantId] })
  expect(await turn(stays)).toBe(200)
  await app.flush()
  await app.flush()
  expect((await reportOf('stays@example.com')).total).toBe(1)
})
