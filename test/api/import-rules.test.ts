import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SURFACES } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import {
  appsOf,
  EMPTY,
  exported,
  freshTenant,
  load,
  type Persona,
  personasOf,
  seedConfiguration,
  settingsOf,
} from '../support/transfer.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

describe.each(SURFACES)('rules of the import on %s', (surface) => {
  test('an imported reference finds imported and existing personas, or is empty', async () => {
    const { me, person } = await freshTenant(app, surface)
    const { id } = (await person<Persona>('POST', '/personas', { name: '旧', prompt: 'p' })).json()
    const result = await load(me, {
      ...EMPTY,
      personas: [{ name: '新', prompt: 'p' }],
      apps: ['旧', ' 新 ', '无', '', null].map((persona_ref, i) => ({ name: `${i}`, persona_ref })),
    })
    expect(result).toMatchObject({ imported: { apps: 5 }, errors: [] })
    const made = (await personasOf(person)).find(({ name }) => name === '新')?.id as string
    const refs = (await appsOf(person)).map(({ persona_id }) => persona_id).reverse()
    expect(refs).toEqual([id, made, null, null, null])
  })

  test('an import takes no persona, id or tenant from another tenant', async () => {
    const stranger = await freshTenant(app, surface)
    await seedConfiguration(stranger.person)
    const theirs = (await personasOf(stranger.person))[0]?.id
    const { tenantId } = await app.key(stranger.email)
    const { me, person } = await freshTenant(app, surface)
    const before = await exported(stranger.me)
    await load(me, {
      ...EMPTY,
      tenant_id: tenantId,
      personas: [{ id: theirs, tenant_id: tenantId, name: 'x', prompt: 'p' }],
      apps: [{ tenant_id: tenantId, name: 'y', persona_ref: '客服', persona_id: theirs }],
    })
    expect(await exported(stranger.me)).toEqual(before)
    expect((await personasOf(person)).map(({ name }) => name)).toEqual(['x'])
    expect((await appsOf(person)).map(({ persona_id }) => persona_id)).toEqual([null])
  })

  test('an import reports bad items by their place and imports the others', async () => {
    const { me } = await freshTenant(app, surface)
    const result = await load(me, {
      format_version: 1,
      personas: [{ name: 'a', prompt: 'p' }, { name: '' }, null, 'x', { name: 'b', prompt: 5 }],
      apps: [{ name: 'a', temperature: 3 }, { name: 'b' }, { name: 'c', persona_ref: 1 }, []],
      settings: { temperature: 'hot' },
    })
    expect(result.imported).toEqual({
      personas: 1,
      apps: 1,
      settings: false,
      mcp_servers: 0,
      prompts: 0,
      collections: 0,
      schedules: 0,
      webhooks: 0,
    })
    expect(result.skipped).toEqual([])
    expect(result.errors).toHaveLength(8)
    const places = ['第 2 个人设', '第 3 个人设', '第 4 个人设', '第 5 个人设']
    places.push('第 1 个应用', '第 3 个应用', '第 4 个应用', '设置')
    for (const [index, place] of places.entries()) {
      expect(result.errors[index]).toStartWith(`${place}：`)
    }
  })

  test('for a name twice in an import, skip keeps the first item, merge the last', async () => {
    for (const [mode, prompt, count] of [
      ['skip', 'one', 1],
      ['merge', 'two', 2],
    ] as const) {
      const { me, person } = await freshTenant(app, surface)
      const personas = ['one', 'two'].map((text) => ({ name: 'n', prompt: text }))
      const result = await load(me, { ...EMPTY, personas }, mode)
      expect(result.imported.personas).toBe(count)
      expect(result.skipped).toHaveLength(2 - count)
      expect((await personasOf(person)).map((persona) => persona.prompt)).toEqual([prompt])
    }
  })

  test('webhooks of one name are several, and each overwrites the one in its place', async () => {
    const { me, person } = await freshTenant(app, surface)
    const hooks = (...urls: string[]) =>
      urls.map((url) => ({ name: 'n', url, events: ['run.done'], format: 'json' }))
    const urlsOf = async () => (await exported(me)).webhooks?.map(({ url }) => url)
    const at = (n: number) => `https://example.com/${n}`
    const [one, two, three] = [at(1), at(2), at(3)]
    const first = await load(me, { ...EMPTY, webhooks: hooks(one, two) })
    expect([first.imported.webhooks, first.skipped]).toEqual([2, []])
    expect(await urlsOf()).toEqual([one, two])
    const again = await load(me, { ...EMPTY, webhooks: hooks(one, two, three) })
    expect([again.imported.webhooks, again.skipped.length]).toEqual([1, 2])
    const merged = await load(me, { ...EMPTY, webhooks: hooks(three, one) }, 'merge')
    expect([merged.imported.webhooks, merged.skipped]).toEqual([2, []])
    expect(await urlsOf()).toEqual([three, one, three])
    const { webhooks } = (await person<{ webhooks: object[] }>('GET', '/webhooks')).json()
    expect(webhooks).toHaveLength(3)
  })

  test('when a name is twice in the tenant, merge overwrites the newer item', async () => {
    const { me, person } = await freshTenant(app, surface)
    for (const prompt of ['old', 'new']) await person('POST', '/personas', { name: 'n', prompt })
    const before = await exported(me)
    await load(me, before, 'merge')
    expect(await exported(me)).toEqual(before)
    await load(me, { ...EMPTY, personas: [{ name: 'n', prompt: 'x' }] }, 'merge')
    expect((await personasOf(person)).map(({ prompt }) => prompt)).toEqual(['x', 'old'])
  })

  test('an import skips apps over the quota and still overwrites existing ones', async () => {
    const { me, person } = await freshTenant(app, surface)
    await person('POST', '/apps', { name: 'a0', model: 'before' })
    const apps = Array.from({ length: 23 }, (_, i) => ({ name: `a${i}`, model: 'after' }))
    const result = await load(me, { ...EMPTY, apps }, 'merge')
    expect(result.imported.apps).toBe(20)
    expect(result.skipped).toHaveLength(3)
    expect(result.skipped[0]).toMatch(/a20.*上限/)
    expect(result.errors).toEqual([])
    const models = (await appsOf(person)).map(({ model }) => model)
    expect(models).toEqual(Array(20).fill('after'))
  })

  test.each([
    ['{'],
    [{}],
    [{ config: null }],
    [{ config: [] }],
    [{ config: 'x' }],
    [{ config: { ...EMPTY, format_version: 2 } }],
    [{ config: { ...EMPTY, format_version: '1' } }],
    [{ config: { personas: [] } }],
    [{ config: { ...EMPTY, personas: {} } }],
    [{ config: { ...EMPTY, apps: 'x' } }],
  ])('the import body %j is refused as a whole', async (body) => {
    const { me, person } = await freshTenant(app, surface)
    const answer = await me('POST', '/import', body)
    expect(answer.status).toBe(400)
    expect(answer.text).toMatch(/\p{Script=Han}/u)
    const { name: _, ...settings } = await settingsOf(person)
    expect(settings).toEqual(EMPTY.settings)
  })

  test('an import of a wrong version is refused by name, and nothing is stored', async () => {
    const { me, person } = await freshTenant(app, surface)
    const config = { ...EMPTY, format_version: 2, personas: [{ name: 'a', prompt: 'p' }] }
    const answer = await me('POST', '/import', { config })
    expect([answer.status, answer.text]).toEqual([400, '不支持的 format_version，仅支持 1'])
    expect(await personasOf(person)).toEqual([])
  })

  test('an import over 1 MB is refused, one with a thousand personas is not', async () => {
    const { me, person } = await freshTenant(app, surface)
    const config = { ...EMPTY, padding: 'x'.repeat(1024 * 1024) }
    expect((await me('POST', '/import', { config })).status).toBe(413)
    const personas = Array.from({ length: 1001 }, (_, i) => ({ name: `n${i}`, prompt: 'p' }))
    const result = await load(me, { ...EMPTY, personas })
    expect([result.imported.personas, result.skipped.length]).toEqual([1000, 1])
    expect(await personasOf(person)).toHaveLength(1000)
    expect((await exported(me)).personas.map(({ name }) => name)).toEqual(
      personas.slice(0, 1000).map(({ name }) => name),
    )
  })
})
