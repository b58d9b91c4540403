import { describe, expect, test } from 'bun:test'
import { REFERENCE_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Db, Statement } from '../../storage/db.ts'
import { DEFAULT_PERSONA } from './prompt.ts'
import { createTurnConfigStore } from './store.ts'
import {
  type AppConfig,
  type RequestedConversation,
  type RequestedTurn,
  resolveTurn,
  type StoredConfig,
} from './turn-config.ts'

const APP: AppConfig = {
  systemPrompt: null,
  model: null,
  thinking: null,
  temperature: null,
  kbEnabled: true,
  toolsEnabled: null,
  collections: null,
  memory: null,
}
const context = (more: Partial<StoredConfig> = {}): StoredConfig => ({
  app: null,
  settings: {
    model: null,
    thinking: null,
    temperature: null,
    mcpTools: [],
    titles: true,
    mayAsk: false,
    collections: null,
    memory: null,
  },
  appPersona: null,
  requestPersona: null,
  defaultPersona: null,
  ...more,
})
const request = (more: Partial<RequestedTurn> = {}): RequestedTurn => ({ kb: true, ...more })

describe('prompt priority, highest first', () => {
  const everything = context({
    app: { ...APP, systemPrompt: 'app prompt' },
    appPersona: 'app persona',
    requestPersona: 'request persona',
    defaultPersona: 'tenant default',
  })
  const asked = request({ persona_id: 'p', persona: 'inline persona' })
  const table: [string, StoredConfig, RequestedTurn, string][] = [
    ['the prompt of the app', everything, asked, 'app prompt'],
    ['the persona of the app', { ...everything, app: APP }, asked, 'app persona'],
    [
      'the persona the request names',
      { ...everything, app: APP, appPersona: null },
      asked,
      'request persona',
    ],
    [
      'the persona the request brings',
      { ...everything, app: null },
      request({ persona: 'inline persona' }),
      'inline persona',
    ],
    ['the default of the tenant', { ...everything, app: null }, request(), 'tenant default'],
    ['the default of the platform', context(), request(), DEFAULT_PERSONA],
    [
      'a blank app prompt says nothing',
      { ...everything, app: { ...APP, systemPrompt: '  ' } },
      asked,
      'app persona',
    ],
    [
      'a persona_id that is not found falls to the default, not to persona',
      context({ defaultPersona: 'tenant default' }),
      asked,
      'tenant default',
    ],
    ['a persona_id that is not found, without a default', context(), asked, DEFAULT_PERSONA],
    [
      'a blank persona says nothing',
      context({ defaultPersona: 'tenant default' }),
      request({ persona: ' ' }),
      'tenant default',
    ],
    [
      'an app persona is of no effect for a key without the app',
      context({ appPersona: 'app persona' }),
      request({ persona: 'inline persona' }),
      'inline persona',
    ],
  ]
  for (const [name, given, wanted, prompt] of table) {
    test(`the system prompt of a turn is ${name}`, () =>
      expect(resolveTurn(given, wanted).prompt).toBe(prompt))
  }
})

describe('fields fall from app to tenant to platform', () => {
  const settings = {
    model: 'tenant-model',
    thinking: true,
    temperature: 0.5,
    mcpTools: [],
    titles: true,
    mayAsk: false,
    collections: null,
    memory: null,
  }
  test('the platform decides every field without app and settings', () => {
    expect(resolveTurn(context(), request())).toMatchObject({
      model: null,
      thinking: false,
      temperature: null,
      kb: true,
      tools: null,
    })
  })
  test('the settings of the tenant decide what its app leaves out', () => {
    expect(resolveTurn(context({ settings }), request())).toMatchObject(settings)
    expect(resolveTurn(context({ settings, app: APP }), request())).toMatchObject(settings)
  })
  test('an app decides each field that it sets', () => {
    const fields = [{ model: 'app-model' }, { thinking: false }, { temperature: 0 }]
    for (const field of fields) {
      const app = { ...APP, ...field }
      expect(resolveTurn(context({ settings, app }), request())).toMatchObject({
        ...settings,
        ...field,
      })
    }
  })
  test('the knowledge base is off when either the request or the app says so', () => {
    const off = context({ app: { ...APP, kbEnabled: false } })
    expect(resolveTurn(off, request()).kb).toBe(false)
    expect(resolveTurn(context(), request({ kb: false })).kb).toBe(false)
    expect(resolveTurn(context({ app: APP }), request()).kb).toBe(true)
  })
  test('the tools of a turn are those of the app, and an empty list offers none', () => {
    for (const toolsEnabled of [null, [], ['calculator']]) {
      const app = { ...APP, toolsEnabled }
      expect(resolveTurn(context({ app }), request()).tools).toEqual(toolsEnabled)
    }
  })
})

const brought = (more: Partial<RequestedConversation> = {}) =>
  request({ conversation: { context: 'house', temperature: 1, thinking: true, ...more } })

test('system messages of a caller replace the default personas and nothing else', () => {
  const tenant = context({ defaultPersona: 'tenant default', requestPersona: 'named' })
  expect(resolveTurn(tenant, brought())).toMatchObject({ prompt: 'house', context: '' })
  const named = { ...brought(), persona_id: 'p' }
  expect(resolveTurn(tenant, named)).toMatchObject({ prompt: 'named', context: 'house' })
  const unknown = resolveTurn({ ...tenant, requestPersona: null }, named)
  expect(unknown).toMatchObject({ prompt: 'house', context: '' })
  const app = { ...APP, systemPrompt: 'app prompt' }
  const kept = resolveTurn({ ...tenant, app }, brought())
  expect(kept).toMatchObject({ prompt: 'app prompt', context: 'house' })
  expect(resolveTurn(tenant, brought({ context: ' ' }))).toMatchObject({
    prompt: 'tenant default',
    context: '',
  })
})

test('temperature and thinking come from the app, then the caller, then the tenant', () => {
  const settings = {
    model: null,
    thinking: false,
    temperature: 0.2,
    mcpTools: [],
    titles: true,
    mayAsk: false,
    collections: null,
    memory: null,
  }
  const app = { ...APP, thinking: false, temperature: 0.7 }
  const wanted = { thinking: true, temperature: 1 }
  expect(resolveTurn(context({ settings }), brought())).toMatchObject(wanted)
  expect(resolveTurn(context({ settings, app }), brought())).toMatchObject({
    thinking: false,
    temperature: 0.7,
  })
  const silent = brought({ temperature: null, thinking: null })
  expect(resolveTurn(context({ settings }), silent)).toMatchObject({
    thinking: false,
    temperature: 0.2,
  })
})

test('a persona id that is longer than any of ours never reaches the database', async () => {
  const asked: Statement[] = []
  const get = async (statement: Statement) => {
    asked.push(statement)
    return null
  }
  const configs = createTurnConfigStore({ get } as unknown as Db)
  for (const extra of [0, 1]) {
    await configs.load('t', null, 'p'.repeat(REFERENCE_CHARS_MAX + extra))
  }
  const longest = asked.map(({ args }) => Math.max(...args.map((arg) => String(arg).length)))
  expect(longest).toEqual([REFERENCE_CHARS_MAX, 4])
})
