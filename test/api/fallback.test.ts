import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { TOOLS } from '../../web/i18n/tool-words.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { EMPTY, load } from '../support/transfer.ts'
import { type Received, startUpstream, type Upstream } from '../support/upstream.ts'

const EMAIL = 'a@example.com'

let upstream: Upstream
let app: TestApp
let person: Call
let cookie: Record<string, string>

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    upstream: upstream.baseUrl,
    env: { MB_LLM_THINKING: 'enable_thinking', MB_SEARCH_URL: 'http://127.0.0.1:9/' },
  })
  cookie = (await app.person(EMAIL)).headers
  person = caller(`${app.url}/console`, cookie)
})
afterEach(async () => {
  upstream.reset()
  await person('PUT', '/settings', {})
  const { personas } = (await person<{ personas: { id: string }[] }>('GET', '/personas')).json()
  for (const { id } of personas) await person('DELETE', `/personas/${id}`)
  const { apps } = (await person<{ apps: { id: string }[] }>('GET', '/apps')).json()
  for (const { id } of apps) await person('DELETE', `/apps/${id}`)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

let sessions = 0

/** What the upstream receives when `headers` ask. */
async function received(headers: Record<string, string>, body: object, path = '/v1/agent') {
  const session_id = `s${++sessions}`
  const stream = await postSse(app.url + path, {
    headers,
    body: { text: 'hi', session_id, ...body },
  })
  const events = await stream.all()
  expect(events.at(-1)?.event).toBe('llm_end')
  const request = await upstream.nextRequest('/chat/completions')
  return { ...wire(request), session_id }
}

function wire({ body }: Received) {
  return {
    prompt: String(body.messages[0]?.content),
    model: body.model,
    thinking: body.enable_thinking,
    temperature: body.temperature,
    tools: (body.tools ?? []).map((tool) => (tool as { function: { name: string } }).function.name),
  }
}

interface AppKey {
  readonly id: string
  readonly headers: Record<string, string>
}

/** An app and one of its keys. */
async function makeApp(body: object): Promise<AppKey> {
  const { id } = (await person<{ id: string }>('POST', '/apps', { name: 'app', ...body })).json()
  const { key } = (await person<{ key: string }>('POST', `/apps/${id}/keys`)).json()
  return { id, headers: { authorization: `Bearer ${key}` } }
}

const makePersona = async (prompt: string, is_default = false) =>
  (await person<{ id: string }>('POST', '/personas', { name: prompt, prompt, is_default })).json()
    .id

describe('model, thinking and temperature', () => {
  test("model, thinking and temperature are the platform's without any setting", async () => {
    const { headers } = await makeApp({})
    expect(await received(headers, {})).toMatchObject({ model: 'fake', thinking: false })
    expect((await received(headers, {})).temperature).toBeUndefined()
  })

  test('settings of the tenant apply to general keys and apps without overrides', async () => {
    await person('PUT', '/settings', { model: 'tenant', thinking: true, temperature: 0 })
    const expected = { model: 'tenant', thinking: true, temperature: 0 }
    const { headers } = await makeApp({})
    expect(await received(headers, {})).toMatchObject(expected)
    expect(await received((await app.key(EMAIL)).headers, {})).toMatchObject(expected)
  })

  test("an app overrides the tenant's settings field by field", async () => {
    await person('PUT', '/settings', { model: 'tenant', thinking: true, temperature: 1 })
    for (const [override, expected] of [
      [{ model: 'own' }, { model: 'own', thinking: true, temperature: 1 }],
      [{ thinking: false }, { model: 'tenant', thinking: false, temperature: 1 }],
      [{ temperature: 0 }, { model: 'tenant', thinking: true, temperature: 0 }],
    ] as const) {
      const { headers } = await makeApp(override)
      expect(await received(headers, {})).toMatchObject(expected)
    }
  })

  test("an app that drops its overrides falls back to the tenant's settings", async () => {
    const { id, headers } = await makeApp({ model: 'own', temperature: 2 })
    await person('PUT', `/apps/${id}`, { name: 'app' })
    const seen = await received(headers, {})
    expect([seen.model, seen.temperature]).toEqual(['fake', undefined])
  })
})

describe('tools', () => {
  test('the console lists the tools that a model is offered', async () => {
    const { tools } = await received((await app.key(EMAIL)).headers, {})
    expect(tools.toSorted()).toEqual(TOOLS.toSorted())
  })

  test('null tools offer all, a list offers the named ones, an empty list none', async () => {
    const all = (await received((await app.key(EMAIL)).headers, {})).tools
    expect(all).toContain('calculator')
    const offered = async (tools_enabled: string[] | null) =>
      (await received((await makeApp({ tools_enabled })).headers, {})).tools
    expect(await offered(null)).toEqual(all)
    expect(await offered(['calculator', 'no_such_tool'])).toEqual(['calculator'])
    expect(await offered([])).toEqual([])
  })
})

describe('prompt, from the lowest level to the highest', () => {
  test('the prompt comes from platform, tenant, request, app persona, app prompt', async () => {
    const general = (await app.key(EMAIL)).headers
    const platform = (await received(general, {})).prompt
    expect(platform).not.toBe('')

    const byDefault = await makePersona('默认人设', true)
    expect((await received(general, {})).prompt).toBe('默认人设')
    const plain = await makeApp({})
    expect((await received(plain.headers, {})).prompt).toBe('默认人设')

    const library = await makePersona('库中人设')
    for (const { headers } of [{ headers: general }, plain]) {
      expect((await received(headers, { persona: '临时' })).prompt).toBe('临时')
      const both = { persona: '临时', persona_id: library }
      expect((await received(headers, both)).prompt).toBe('库中人设')
      const lost = { persona: '临时', persona_id: 'none' }
      expect((await received(headers, lost)).prompt).toBe('默认人设')
    }

    const request = { persona: '临时', persona_id: library }
    const bound = await makeApp({ persona_id: byDefault })
    expect((await received(bound.headers, request)).prompt).toBe('默认人设')
    const own = await makeApp({ persona_id: byDefault, system_prompt: '应用提示词' })
    expect((await received(own.headers, request)).prompt).toBe('应用提示词')

    const dangling = await makeApp({ persona_id: 'none' })
    expect((await received(dangling.headers, request)).prompt).toBe('库中人设')
    await person('DELETE', `/personas/${byDefault}`)
    expect((await received(bound.headers, {})).prompt).toBe(platform)
  })

  test("another tenant's persona is not found, neither by request nor by app", async () => {
    const stranger = caller(`${app.url}/console`, (await app.person('b@example.com')).headers)
    const persona = { name: 'theirs', prompt: '他人的秘密', is_default: true }
    const { id } = (await stranger<{ id: string }>('POST', '/personas', persona)).json()
    const general = (await app.key(EMAIL)).headers
    expect((await received(general, { persona_id: id })).prompt).not.toContain('秘密')
    const { headers } = await makeApp({ persona_id: id })
    expect((await received(headers, {})).prompt).not.toContain('秘密')
  })
})

describe('each change counts from the next turn on, for a key in use', () => {
  test('changed settings, personas and imports count from the next turn on', async () => {
    const { headers } = await app.key(EMAIL)
    const platform = await received(headers, {})

    await person('PUT', '/settings', { model: 'chosen' })
    expect((await received(headers, {})).model).toBe('chosen')
    await person('PUT', '/settings', {})
    expect((await received(headers, {})).model).toBe(platform.model)

    const first = await makePersona('一', true)
    expect((await received(headers, {})).prompt).toBe('一')
    await person('PUT', `/personas/${first}`, { name: '一', prompt: '一改', is_default: true })
    expect((await received(headers, {})).prompt).toBe('一改')
    const second = await makePersona('二', true)
    expect((await received(headers, {})).prompt).toBe('二')
    await person('DELETE', `/personas/${second}`)
    expect((await received(headers, {})).prompt).toBe(platform.prompt)

    const settings = { model: 'imported', thinking: false, temperature: null }
    expect((await load(person, { ...EMPTY, settings }, 'merge')).imported.settings).toBe(true)
    expect((await received(headers, {})).model).toBe('imported')
  })

  test('a changed app counts from the next turn on, a deleted one revokes its key', async () => {
    const { id, headers } = await makeApp({ model: 'before' })
    expect((await received(headers, {})).model).toBe('before')
    await person('PUT', `/apps/${id}`, { name: 'app', model: 'after' })
    expect((await received(headers, {})).model).toBe('after')
    await person('DELETE', `/apps/${id}`)
    expect((await postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi' } })).status).toBe(
      401,
    )
  })

  test('a changed key counts from its next turn', async () => {
    const { id, headers } = await app.key(EMAIL)
    await received(headers, {})
    await person('DELETE', `/keys/${id}`)
    expect((await postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi' } })).status).toBe(
      401,
    )
  })
})

describe('a device key', () => {
  test('a device key runs as its app, and as the tenant once the app is gone', async () => {
    const { id } = await makeApp({ model: 'own', system_prompt: '设备' })
    const { headers } = await app.key(EMAIL, { appId: id, deviceId: 'd1' })
    expect(await received(headers, {})).toMatchObject({ model: 'own', prompt: '设备' })
    await person('DELETE', `/apps/${id}`)
    const after = await received(headers, {})
    expect(after.model).toBe('fake')
    expect(after.prompt).not.toContain('设备')
  })
})

describe('the studio', () => {
  const path = '/console/agent'

  test('the studio runs as an app, or as a general key', async () => {
    const { id } = await makeApp({ model: 'own', system_prompt: '试用', tools_enabled: [] })
    const expected = { model: 'own', prompt: '试用', tools: [] }
    expect(await received(cookie, { app_id: id }, path)).toMatchObject(expected)
    for (const app_id of [null, undefined, '']) {
      expect((await received(cookie, { app_id }, path)).model).toBe('fake')
    }
  })

  test('the studio shares the sessions of the tenant', async () => {
    const { id } = await makeApp({})
    const { session_id } = await received(cookie, { app_id: id }, path)
    const { count } = (
      await person<{ count: number }>('GET', `/sessions/${session_id}/history`)
    ).json()
    expect(count).toBe(2)
    const { sessions: rows } = (
      await person<{ sessions: { id: string; app_id: string }[] }>('GET', '/sessions')
    ).json()
    expect(rows.find((row) => row.id === session_id)?.app_id).toBe(id)
    expect((await person('DELETE', `/sessions/${session_id}`)).json()).toEqual({
      id: session_id,
      deleted: true,
    })
  })

  test("the studio does not find another tenant's app", async () => {
    const stranger = caller(`${app.url}/console`, (await app.person('b@example.com')).headers)
    const { id } = (await stranger<{ id: string }>('POST', '/apps', { name: 'theirs' })).json()
    for (const app_id of [id, 'none']) {
      const answer = await person('POST', '/agent', { text: 'hi', app_id })
      expect(answer.status).toBe(404)
      expect(answer.text).not.toContain(id)
    }
    expect(upstream.requests).toEqual([])
  })

  test('the studio refuses what the machine side refuses', async () => {
    const tooLong = { text: 'a', app_id: 'none', session_id: 's'.repeat(201) }
    for (const body of [{}, { text: ' ' }, { text: 'a', app_id: 5 }, '{', tooLong]) {
      expect((await person('POST', '/agent', body)).status).toBe(400)
    }
  })

  test('the studio counts no usage and writes no log row', async () => {
    const numbers = async () => [
      (await person<{ total: number }>('GET', '/usage')).json().total,
      (await person<{ summary: { count: number } }>('GET', '/logs')).json().summary.count,
    ]
    const before = await numbers()
    await received(cookie, {}, path)
    expect(await numbers()).toEqual(before)
  })
})
