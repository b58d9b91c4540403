import { afterAll, beforeAll, expect, test } from 'bun:test'
import { KEYS_MAX, PERSONAS_MAX } from '../../src/core/limits/machine.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const ROWS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)'

async function tenantOf(email: string) {
  const { tenantId, headers } = await app.person(email)
  return { tenantId, call: caller(`${app.url}/console`, headers) }
}

test('a tenant has a thousand personas at most, and a refused one is no default', async () => {
  const { tenantId, call } = await tenantOf('personas@example.com')
  const first = await call<{ id: string }>('POST', '/personas', {
    name: 'first',
    prompt: 'p',
    is_default: true,
  })
  expect(first.status).toBe(201)
  await app.db.run({
    sql: `${ROWS} INSERT INTO persona (id, tenant_id, name, prompt, is_default, created_at)
      SELECT 'persona-' || i, ?, 'n' || i, 'p', 0, i FROM n`,
    args: [PERSONAS_MAX - 2, tenantId],
  })
  expect((await call('POST', '/personas', { name: 'last', prompt: 'p' })).status).toBe(201)
  for (const is_default of [false, true]) {
    const refused = await call('POST', '/personas', { name: 'more', prompt: 'p', is_default })
    expect([refused.status, refused.text]).toEqual([403, '人设数量已达上限（最多 1000 个）'])
  }
  const config = { format_version: 1, personas: [{ name: 'more', prompt: 'p' }] }
  const { imported, skipped, errors } = (
    await call<Record<string, unknown>>('POST', '/import', { config })
  ).json()
  expect([imported, skipped, errors]).toEqual([
    {
      personas: 0,
      apps: 0,
      mcp_servers: 0,
      prompts: 0,
      collections: 0,
      schedules: 0,
      webhooks: 0,
      settings: false,
    },
    ['人设「more」未导入：人设数量已达上限（最多 1000 个）'],
    [],
  ])
  const { personas } = (
    await call<{ personas: { id: string; is_default: number }[] }>('GET', '/personas')
  ).json()
  expect(personas).toHaveLength(PERSONAS_MAX)
  expect(personas.filter((one) => one.is_default === 1).map(({ id }) => id)).toEqual([
    first.json().id,
  ])
})

test('a tenant has at most ten thousand keys, revoked ones included', async () => {
  const { tenantId, call } = await tenantOf('keys@example.com')
  const { id: appId } = (await call<{ id: string }>('POST', '/apps', { name: 'a' })).json()
  await app.db.run({
    sql: `${ROWS} INSERT INTO api_key
        (id, tenant_id, hash, prefix, rate_limit, created_at, revoked_at)
      SELECT 'key-' || i, ?, 'hash-' || i, 'sk-mb-', 60, i, i FROM n`,
    args: [KEYS_MAX - 1, tenantId],
  })
  expect((await call('POST', `/apps/${appId}/keys`)).status).toBe(201)
  for (const path of ['/keys', `/apps/${appId}/keys`]) {
    const refused = await call('POST', path)
    expect([refused.status, refused.text]).toEqual([
      403,
      '密钥数量已达上限（最多 10000 个，含已吊销）',
    ])
  }
  const device = (await call<{ activation_code: string }>('POST', '/devices', { name: 'd' })).json()
  const activate = () =>
    caller(`${app.url}/v1`, {})('POST', '/devices/activate', {
      code: device.activation_code,
    })
  expect((await activate()).status).toBe(403)
  await app.db.run({ sql: "DELETE FROM api_key WHERE id = 'key-1'", args: [] })
  expect((await activate()).status).toBe(200)
  expect((await call('POST', '/apps/unknown/keys')).status).toBe(404)
  expect((await (await tenantOf('other@example.com')).call('POST', '/keys')).status).toBe(201)
})
