import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ConfigExport, ImportResult } from '../../src/features/transfer/model.ts'
import { type Call, SURFACES, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import {
  APP,
  appsOf,
  EMPTY,
  exported,
  freshTenant,
  load,
  personasOf,
  seedConfiguration,
} from '../support/transfer.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

describe.each(SURFACES)('export and import on %s', (surface) => {
  test('an export has names for ids, and no secret', async () => {
    const { me, person } = await freshTenant(app, surface)
    const key = await seedConfiguration(person)
    const answer = await me<ConfigExport>('GET', '/export')
    expect(answer.status).toBe(200)
    expect(answer.json()).toEqual({
      format_version: 1,
      exported_at: answer.json().exported_at,
      personas: [
        { name: '客服', prompt: '你是客服', is_default: true },
        { name: '老师', prompt: '你是老师', is_default: false },
      ],
      apps: [
        {
          name: '一号',
          system_prompt: '提示',
          persona_ref: '客服',
          model: 'm',
          thinking: true,
          temperature: 0.5,
          kb_enabled: false,
          tools_enabled: [],
          collections: null,
        },
        { ...APP, name: '二号' },
      ],
      settings: {
        ...{ model: 'gpt', thinking: true, temperature: 1, price_in: 0.5, price_out: 2 },
        mcp_tools: [],
        titles: true,
        ...{ ocr: 'scans', ocr_model: 'seer' },
      },
      mcp_servers: [],
    })
    expect(answer.json().exported_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    for (const secret of [key, key.slice(0, 12), 'sk-mb', 'hash', 'tenant']) {
      expect(answer.text).not.toContain(secret)
    }
  })

  test('an export imported by another tenant exports unchanged', async () => {
    const from = await freshTenant(app, surface)
    const to = await freshTenant(app, surface)
    await seedConfiguration(from.person)
    const config = (await from.me<ConfigExport>('GET', '/export')).json()
    const answer = await to.me<ImportResult>('POST', '/import', { config })
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        imported: {
          personas: 2,
          apps: 2,
          settings: true,
          mcp_servers: 0,
          prompts: 0,
          collections: 0,
          schedules: 0,
          webhooks: 0,
        },
        skipped: [],
        errors: [],
      },
    ])
    expect(await exported(to.me)).toEqual(await exported(from.me))
    const [persona] = (await personasOf(to.person)).filter(({ name }) => name === '客服')
    const [bound] = (await appsOf(to.person)).filter(({ name }) => name === '一号')
    expect(bound?.persona_id).toBe(persona?.id as string)
    const again = await load(to.me, config, 'merge')
    expect(again.imported).toEqual({
      personas: 2,
      apps: 2,
      settings: true,
      mcp_servers: 0,
      prompts: 0,
      collections: 0,
      schedules: 0,
      webhooks: 0,
    })
    expect(await exported(to.me)).toEqual(await exported(from.me))
  })

  test('an import with skip keeps existing items, and an unknown mode is skip', async () => {
    const { me, person } = await freshTenant(app, surface)
    await seedConfiguration(person)
    const before = await exported(me)
    const config = {
      format_version: 1,
      personas: [
        { name: '客服', prompt: '新', is_default: false },
        { name: '新人', prompt: '新', is_default: true },
      ],
      apps: [{ name: '一号' }],
      settings: { model: 'other' },
    }
    for (const [mode, personas] of [
      ['skip', 1],
      [undefined, 0],
      ['replace', 0],
      [7, 0],
    ] as const) {
      const result = await load(me, config, mode)
      expect(result.imported).toEqual({
        personas,
        apps: 0,
        settings: false,
        mcp_servers: 0,
        prompts: 0,
        collections: 0,
        schedules: 0,
        webhooks: 0,
      })
      expect(result.errors).toEqual([])
      expect(result.skipped.join()).toMatch(/客服.*一号.*设置/)
    }
    const added = { name: '新人', prompt: '新', is_default: false }
    expect(await exported(me)).toEqual({ ...before, personas: [...before.personas, added] })
  })

  test('an import with merge overwrites same names, settings and the default', async () => {
    const { me, person } = await freshTenant(app, surface)
    const key = await seedConfiguration(person)
    const ids = [...(await personasOf(person)), ...(await appsOf(person))].map(({ id }) => id)
    const result = await load(
      me,
      {
        format_version: 1,
        personas: [{ name: '老师', prompt: '新', is_default: true }],
        apps: [{ name: '一号', persona_ref: '老师' }],
        settings: {},
      },
      'merge',
    )
    expect(result).toEqual({
      imported: {
        personas: 1,
        apps: 1,
        settings: true,
        mcp_servers: 0,
        prompts: 0,
        collections: 0,
        schedules: 0,
        webhooks: 0,
      },
      skipped: [],
      errors: [],
    })
    const after = await exported(me)
    expect(after.personas).toEqual([
      { name: '客服', prompt: '你是客服', is_default: false },
      { name: '老师', prompt: '新', is_default: true },
    ])
    expect(after.apps[0]).toEqual({ ...APP, name: '一号', persona_ref: '老师' })
    expect(after.settings).toEqual(EMPTY.settings)
    expect([...(await personasOf(person)), ...(await appsOf(person))].map(({ id }) => id)).toEqual(
      ids,
    )
    const used = await fetch(`${app.url}/v1/sessions/x/history`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(used.status).toBe(200)
  })

  test('the default persona survives a merge that does not name a default', async () => {
    const { me, person } = await freshTenant(app, surface)
    await seedConfiguration(person)
    const personas = [
      { name: '客服', prompt: '新' },
      { name: '三', prompt: 'p' },
    ]
    await load(me, { ...EMPTY, personas }, 'merge')
    const flags = (await personasOf(person)).map(({ name, is_default }) => [name, is_default])
    expect(Object.fromEntries(flags)).toEqual({ 客服: 1, 老师: 0, 三: 0 })
  })

  test.each(['skip', 'merge'])(
    'an import brings in at most one default persona (%s)',
    async (mode) => {
      const { me, person } = await freshTenant(app, surface)
      const personas = ['a', 'b', 'c'].map((name) => ({ name, prompt: 'p', is_default: true }))
      await load(me, { ...EMPTY, personas }, mode)
      const found = (await personasOf(person)).filter(({ is_default }) => is_default === 1)
      expect(found.map(({ name }) => name)).toEqual([mode === 'skip' ? 'a' : 'c'])
    },
  )
})

test('only the console offers the export as a file', async () => {
  const console = await surfaceOf(app, '/console', 'file@example.com')
  const machine = await surfaceOf(app, '/v1', 'file@example.com')
  const name = async (call: Call, query: string) =>
    (await call('GET', `/export${query}`)).headers.get('content-disposition')
  expect(await name(console, '?download=1')).toMatch(
    /^attachment; filename="moonbase-config-\d{4}-\d\d-\d\d\.json"$/,
  )
  expect(await name(console, '')).toBeNull()
  expect(await name(console, '?download=0')).toBeNull()
  expect(await name(machine, '?download=1')).toBeNull()
})
