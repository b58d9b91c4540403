import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { tone, wav } from '../support/recordings.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let boss: Call
beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  app = await startApp({ upstream: baseUrl, env: { MB_ASR_BASE_URL: baseUrl } })
  boss = caller(`${app.url}/console`, (await app.operator()).headers)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function turn(headers: Record<string, string>, path: string) {
  const stream = await postSse(`${app.url}${path}`, { headers, body: { text: 'hi' } })
  if (stream.status === 200) await stream.all()
  return stream.status
}

type Tenant = { id: string; name: string; tokens_today: number; disabled: boolean }
const put = (id: string, body: object) => boss<Tenant>('PUT', `/system/tenants/${id}`, body)

test('a person has a daily limit in the console, which keys do not share', async () => {
  const team = await startTeam(app)
  const mate = await team.join('editor')
  const path = `/console/members/${mate.id}`
  const key = await app.key(team.email)
  expect(await turn(mate.headers, '/console/agent')).toBe(200)
  type Me = { user_id: string; tokens_today: number; daily_tokens: number }
  const me = async () => (await mate.call<Me>('GET', '/auth/me')).json()
  const { tokens_today: used, user_id: id } = await me()
  expect(used).toBeGreaterThan(0)
  const set = await team.call('PUT', path, { daily_tokens: used })
  expect(set.json()).toMatchObject({ role: 'editor', daily_tokens: used })
  expect(await turn(mate.headers, '/console/agent')).toBe(429)
  expect(await turn(team.headers, '/console/agent')).toBe(200)
  expect(await turn(key.headers, '/v1/agent')).toBe(200)
  expect(await me()).toMatchObject({ tokens_today: used, daily_tokens: used })
  const viewer = await team.call('PUT', path, { role: 'viewer' })
  expect(viewer.json()).toMatchObject({ role: 'viewer', daily_tokens: used })
  expect((await mate.call('PUT', path, { daily_tokens: 0 })).status).toBe(403)
  expect((await team.call('PUT', path, { daily_tokens: -1 })).status).toBe(400)
  type Usage = { by_person: { user_id: string; input_tokens: number; output_tokens: number }[] }
  const mine = (await mate.call<Usage>('GET', '/console/usage')).json().by_person
  expect(mine.map((row) => [row.user_id, row.input_tokens + row.output_tokens])).toEqual([
    [id, used],
  ])
  const all = (await team.call<Usage>('GET', '/console/usage')).json().by_person
  expect(all.map(({ user_id }) => user_id)).toContain(id)
  expect(all).toHaveLength(2)
  expect((await team.call('PUT', path, { daily_tokens: 0 })).status).toBe(200)
  expect(await turn(mate.headers, '/console/agent')).toBe(200)
})

test('a tenant has a daily limit for all that it does, and one of documents', async () => {
  const team = await startTeam(app)
  const key = await app.key(team.email)
  const other = await app.key('unlimited@example.com')
  expect(await turn(key.headers, '/v1/agent')).toBe(200)
  type List = { tenants: Tenant[] }
  const row = async () =>
    (await boss<List>('GET', '/system/tenants'))
      .json()
      .tenants.find(({ id }) => id === team.tenantId)
  const seen = await row()
  expect(seen).toMatchObject({ owners: [team.email], members: 1, keys: 1, docs: 0, max_docs: null })
  expect(seen?.tokens_today).toBeGreaterThan(0)
  const set = await put(team.tenantId, { daily_tokens: seen?.tokens_today, max_docs: 1 })
  expect(set.json()).toEqual({ ...seen, daily_tokens: seen?.tokens_today, max_docs: 1 } as never)
  expect(await turn(key.headers, '/v1/agent')).toBe(429)
  expect(await turn(team.headers, '/console/agent')).toBe(429)
  expect(await turn(other.headers, '/v1/agent')).toBe(200)
  const add = () => team.call('POST', '/console/kb/docs', { title: 'T', text: 'one' })
  expect((await add()).status).toBeLessThan(300)
  expect((await add()).headers.get('x-error-code')).toBe('quota_docs')
  expect((await put(team.tenantId, {})).json()).toMatchObject({ daily_tokens: 0, max_docs: null })
  expect(await turn(key.headers, '/v1/agent')).toBe(200)
  expect((await add()).status).toBeLessThan(300)
  for (const wrong of [
    { max_docs: 51 },
    { max_docs: -1 },
    { daily_tokens: 'x' },
    { disabled: 1 },
  ]) {
    expect((await put(team.tenantId, wrong)).status).toBe(400)
  }
  expect((await put('none', {})).status).toBe(404)
})

test('where nothing is left to use no body is read, and no speech recognised', async () => {
  const team = await startTeam(app)
  const mate = await team.join('editor')
  const key = caller(`${app.url}/v1`, (await app.key(team.email)).headers)
  expect(await turn(mate.headers, '/console/agent')).toBe(200)
  upstream.reset()
  const audio_b64 = Buffer.from(wav(16_000, tone(16_000, 0.3))).toString('base64')
  await team.call('PUT', `/console/members/${mate.id}`, { daily_tokens: 1 })
  expect((await mate.call('POST', '/console/voice', { audio_b64 })).status).toBe(429)
  expect((await key('POST', '/agent', '{ no json')).status).toBe(400)
  await put(team.tenantId, { daily_tokens: 1 })
  for (const path of ['/agent', '/voice', '/chat/completions', '/messages']) {
    const refused = await key('POST', path, '{ no json')
    expect([path, refused.headers.get('x-error-code')]).toEqual([path, 'budget_spent'])
  }
  expect((await key('POST', '/voice', { audio_b64 })).status).toBe(429)
  expect((await team.call('POST', '/console/voice', { audio_b64 })).status).toBe(429)
  expect(upstream.requests).toEqual([])
  expect((await key('GET', '/models')).status).toBe(200)
})

test('a disabled tenant is closed, and nothing of it is lost', async () => {
  const team = await startTeam(app)
  const key = caller(app.url, (await app.key(team.email)).headers)
  await key('POST', '/v1/apps', { name: 'Kept' })
  expect((await put(team.tenantId, { disabled: true })).json().disabled).toBe(true)
  const refused = await key('GET', '/v1/apps')
  const unknown = await caller(app.url, { authorization: `Bearer sk-mb-${'0'.repeat(64)}` })(
    'GET',
    '/v1/apps',
  )
  expect([refused.status, refused.text]).toEqual([401, unknown.text])
  const closed = await team.call('GET', '/console/apps')
  expect([closed.status, closed.headers.get('x-error-code')]).toEqual([403, 'tenant_disabled'])
  expect((await team.call('GET', '/auth/me')).status).toBe(200)
  expect((await team.call('POST', '/auth/tenant', { tenant_id: team.tenantId })).status).toBe(200)
  await put(team.tenantId, { disabled: false })
  expect((await key<{ apps: object[] }>('GET', '/v1/apps')).json().apps).toHaveLength(1)
  expect((await team.call('GET', '/console/apps')).status).toBe(200)
})
