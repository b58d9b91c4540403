import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller, SURFACES, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'

interface App {
  id: string
  name: string
}
interface Issued {
  id: string
  prefix: string
  rate_limit: number
  app_id: string
  key: string
}

const PLAIN = {
  system_prompt: null,
  persona_id: null,
  model: null,
  thinking: null,
  temperature: null,
  kb_enabled: true,
  tools_enabled: null,
  reminders: null,
  memory: null,
  may_ask: null,
  ...{ icon: null, description: null, greeting: null, starters: [] },
  collections: null,
}
const FULL = {
  name: '客服',
  system_prompt: '你是客服',
  persona_id: 'does-not-exist',
  model: 'm',
  thinking: false,
  temperature: 0,
  kb_enabled: false,
  tools_enabled: [],
  reminders: true,
  memory: 'app',
  may_ask: true,
  ...{ icon: '🛒', description: '回答顾客', greeting: '您好', starters: ['几点开门？'] },
  collections: ['gone', 'none'],
}

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

describe.each(SURFACES)('apps on %s', (surface) => {
  let me: Call
  let other: Call
  beforeAll(async () => {
    me = await surfaceOf(app, surface, `me${surface}@example.com`)
    other = await surfaceOf(app, surface, `other${surface}@example.com`)
  })
  const create = async (body: object, call = me) => (await call<App>('POST', '/apps', body)).json()
  const keyWorks = async (key: string) => {
    const call = caller(app.url, { authorization: `Bearer ${key}` })
    return (await call('GET', '/v1/sessions/x/history')).status
  }

  test('an app with a name alone overrides nothing', async () => {
    const answer = await me<App>('POST', '/apps', { name: ' 助手 ' })
    expect(answer.status).toBe(201)
    const expected = { name: '助手', ...PLAIN, id: answer.json().id, created_at: anyTime() }
    expect(answer.json()).toEqual(expected)
    expect((await me('GET', `/apps/${answer.json().id}`)).json()).toEqual(expected)
  })

  test('apps are listed newest first with every field', async () => {
    const older = await create({ name: 'older' })
    const newer = await create(FULL)
    const { apps } = (await me<{ apps: App[] }>('GET', '/apps')).json()
    expect(apps.slice(0, 2)).toEqual([
      { ...FULL, id: newer.id, created_at: anyTime() } as App,
      { ...PLAIN, name: 'older', id: older.id, created_at: anyTime() } as App,
    ])
  })

  test('an update of an app replaces every field, and omitted collections stay', async () => {
    const { id } = await create(FULL)
    const answer = await me<App>('PUT', `/apps/${id}`, { name: '新名' })
    expect(answer.status).toBe(200)
    const { collections } = FULL
    const now = { id, ...PLAIN, name: '新名', collections, created_at: anyTime() }
    expect(answer.json()).toEqual(now as unknown as App)
  })

  test('a foreign or unknown app id is not found', async () => {
    const { id } = await create(FULL)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { name: 'stolen' }],
      ['DELETE', '', undefined],
      ['POST', '/keys', undefined],
    ] as const) {
      const foreign = await other(method, `/apps/${id}${path}`, body)
      const unknown = await other(method, `/apps/none${path}`, body)
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    }
    expect((await me<App>('GET', `/apps/${id}`)).json().name).toBe('客服')
    expect((await other<{ apps: App[] }>('GET', '/apps')).json().apps).toEqual([])
  })

  test('deleting an app revokes its keys, and keys of its devices stay valid', async () => {
    const { id } = await create({ name: 'keys' })
    const first = await me<Issued>('POST', `/apps/${id}/keys`)
    expect(first.status).toBe(201)
    expect(first.json()).toEqual({
      id: expect.any(String),
      prefix: first.json().key.slice(0, 8),
      rate_limit: 60,
      app_id: id,
      key: expect.stringMatching(/^sk-mb-[0-9a-f]{64}$/),
    } as unknown as Issued)
    const second = await me<Issued>('POST', `/apps/${id}/keys`, {})
    const clamped = await me<Issued>('POST', `/apps/${id}/keys`, { rate_limit: 1e9 })
    expect(clamped.json().rate_limit).toBe(100_000)
    expect((await me('POST', `/apps/${id}/keys`, { rate_limit: -1 })).status).toBe(400)
    const email = `me${surface}@example.com`
    const device = await app.key(email, { appId: id, deviceId: 'd' })
    const general = await app.key(email)

    const removed = await me('DELETE', `/apps/${id}`)
    expect([removed.status, removed.json()]).toEqual([200, { id, deleted: true }])
    const keys = [first.json().key, second.json().key, device.key, general.key]
    expect(await Promise.all(keys.map(keyWorks))).toEqual([401, 401, 200, 200])
    expect((await me('DELETE', `/apps/${id}`)).status).toBe(404)
    expect((await me('POST', `/apps/${id}/keys`)).status).toBe(404)
  })

  test('no key outlives an app that is deleted while keys are issued', async () => {
    const { id } = await create({ name: 'race' })
    const issuing = Array.from({ length: 5 }, () => me<Issued>('POST', `/apps/${id}/keys`))
    const removing = me('DELETE', `/apps/${id}`)
    const issued = (await Promise.all(issuing)).filter(({ status }) => status === 201)
    expect((await removing).status).toBe(200)
    const statuses = await Promise.all(issued.map((answer) => keyWorks(answer.json().key)))
    expect(statuses.filter((status) => status !== 401)).toEqual([])
  })

  describe('accepts up to the limits', () => {
    test.each([
      [{ name: '名'.repeat(60) }],
      [{ name: ` ${'🦊'.repeat(60)} ` }],
      [{ name: 'a', system_prompt: '词'.repeat(8000) }],
      [{ name: 'a', model: 'm'.repeat(200) }],
      [{ name: 'a', temperature: 2 }],
      [{ name: 'a', tools_enabled: Array(16).fill('t'.repeat(64)) }],
      [{ name: 'a', system_prompt: null, thinking: null, tools_enabled: null, tenant_id: 'x' }],
    ])('an app just within the limits is accepted (%#)', async (body) => {
      const answer = await me<App>('POST', '/apps', body)
      expect(answer.status).toBe(201)
      expect((await me('DELETE', `/apps/${answer.json().id}`)).status).toBe(200)
    })
  })

  describe('refuses', () => {
    test.each([
      [{}, 'name'],
      [{ name: '  ' }, 'name'],
      [{ name: 7 }, 'name'],
      [{ name: '名'.repeat(61) }, 'name'],
      [{ name: 'a', system_prompt: '词'.repeat(8001) }, 'system_prompt'],
      [{ name: 'a', system_prompt: 1 }, 'system_prompt'],
      [{ name: 'a', persona_id: {} }, 'persona_id'],
      [{ name: 'a', model: 'm'.repeat(201) }, 'model'],
      [{ name: 'a', thinking: 'no' }, 'thinking'],
      [{ name: 'a', temperature: 2.1 }, 'temperature'],
      [{ name: 'a', temperature: -1 }, 'temperature'],
      [{ name: 'a', temperature: 'hot' }, 'temperature'],
      [{ name: 'a', kb_enabled: 'yes' }, 'kb_enabled'],
      [{ name: 'a', kb_enabled: null }, 'kb_enabled'],
      [{ name: 'a', tools_enabled: 'all' }, 'tools_enabled'],
      [{ name: 'a', tools_enabled: [1] }, 'tools_enabled'],
      [{ name: 'a', tools_enabled: [' '] }, 'tools_enabled'],
      [{ name: 'a', tools_enabled: ['t'.repeat(65)] }, 'tools_enabled'],
      [{ name: 'a', tools_enabled: Array(17).fill('t') }, 'tools_enabled'],
    ])('a wrong app is refused on create and on update (%#)', async (body, field) => {
      const { id } = await create({ name: 'b' })
      for (const [method, path] of [
        ['POST', '/apps'],
        ['PUT', `/apps/${id}`],
      ] as const) {
        const answer = await me(method, path, body)
        expect(answer.status).toBe(400)
        expect(answer.text).toContain(field)
        expect(answer.text).toMatch(/\p{Script=Han}/u)
      }
      await me('DELETE', `/apps/${id}`)
    })
  })

  test('the twenty-first app is refused, even when many are created at once', async () => {
    const full = await surfaceOf(app, surface, `full${surface}@example.com`)
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, i) => full('POST', '/apps', { name: `a${i}` })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(20).fill(201), ...Array(5).fill(403)])
    const refused = answers.find(({ status }) => status === 403)
    expect(refused?.text).toContain('上限')
    expect((await full('POST', '/apps', {})).status).toBe(400)
    const { apps } = (await full<{ apps: App[] }>('GET', '/apps')).json()
    expect(apps).toHaveLength(20)
    await full('DELETE', `/apps/${apps[0]?.id}`)
    expect((await full('POST', '/apps', { name: 'room' })).status).toBe(201)
  })
})

function anyTime(): string {
  return expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string
}
