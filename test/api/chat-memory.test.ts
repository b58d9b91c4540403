import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chatTenant, clientTool, user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const tenant = (...scope: [scope?: object, email?: string]) => chatTenant(server.app, ...scope)
const assistant = (content: string) => ({ role: 'assistant', content })
interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
  readonly [field: string]: unknown
}
/** What the platform's model was sent, oldest first. */
const sent = () => server.asked(server.platform).map(({ body }) => body as unknown as Sent)
const last = () => sent().at(-1) as Sent
/** The messages after the system message. */
const said = () => last().messages.slice(1)
const systemText = () => last().messages[0]?.content ?? ''

describe('memory of chat completions', () => {
  test('a request without a session stores nothing, and its messages are the memory', async () => {
    const chat = await tenant()
    const messages = [user('I am Ann.'), assistant('Hello Ann.'), user('Who am I?')]
    for (let n = 0; n < 3; n++) {
      await chat.whole({ messages, user: 'ann', metadata: { conversation: 'c' } })
    }
    expect(await chat.sessions()).toEqual([])
    expect(said()).toEqual(messages)
  })

  test('a session remembers the turn, and the caller sends only what is new', async () => {
    const chat = await tenant()
    server.platform.reply({ text: 'Hello Ann.' })
    await chat.whole({ session_id: 's1', messages: [user('I am Ann.')] })
    await chat.stream({ session_id: 's1', messages: [user('Who am I?')] })
    const first = [user('I am Ann.'), assistant('Hello Ann.')]
    expect(said()).toEqual([...first, user('Who am I?')])
    expect(await chat.history('s1')).toEqual([...first, user('Who am I?'), assistant('好的')])
    expect(await chat.sessions()).toMatchObject([{ id: 's1', turn_count: 2 }])
  })

  test('a session takes the tail of the messages and every system message', async () => {
    const chat = await tenant()
    const system = (content: string) => ({ role: 'system', content })
    const messages = [system('one'), user('old'), assistant('older'), system('two'), user('new')]
    await chat.whole({ session_id: 's', messages })
    expect(said()).toEqual([user('new')])
    expect(systemText()).toBe('one\n\ntwo')
    expect(await chat.history('s')).toEqual([user('new'), assistant('好的')])
  })

  test('the header names a session where the body does not', async () => {
    const chat = await tenant()
    const ask = (body: object, header: string) =>
      chat.whole({ messages: [user('hi')], ...body }, { 'X-Moonbase-Session': header })
    await ask({}, 'by-header')
    await ask({ session_id: 'by-body' }, 'other')
    await ask({ session_id: ' ' }, encodeURIComponent('客厅'))
    await ask({ session_id: null }, '')
    await ask({}, '  ')
    const ids = (await chat.sessions()).map(({ id }) => id)
    expect(ids.sort()).toEqual(['by-body', 'by-header', '客厅'])
    for (const refused of ['x'.repeat(201), '%zz', '%ff']) {
      const { status, body } = await ask({}, refused)
      expect([status, body.error.type]).toEqual([400, 'invalid_request_error'])
    }
  })

  test('calls of client tools store nothing until the follow-up is answered', async () => {
    const chat = await tenant()
    const tools = [clientTool('lamp')]
    const ask = { session_id: 's', tools }
    server.platform.reply({ toolCalls: [{ name: 'lamp', id: 'call_a', arguments: {} }] })
    const { body } = await chat.whole({ ...ask, messages: [user('lamp on')] })
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null },
    })
    expect(await chat.sessions()).toEqual([])
    const { message } = body.choices[0]
    const result = { role: 'tool', tool_call_id: 'call_a', content: 'done' }
    await chat.whole({ ...ask, messages: [user('old'), user('lamp on'), message, result] })
    expect(said().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(await chat.history('s')).toEqual([user('lamp on'), assistant('好的')])
  })

  test('turns of one session run one after another', async () => {
    const chat = await tenant()
    const hold = Promise.withResolvers<void>()
    server.platform.reply({ pieces: ['one'], hold: { after: 0, until: hold.promise } })
    server.platform.reply({ text: 'two' })
    const ask = (text: string) => chat.stream({ session_id: 's', messages: [user(text)] })
    const first = ask('1')
    await server.platform.nextRequest()
    const second = ask('2')
    const other = await chat.stream({ session_id: 'other', messages: [user('3')] })
    expect(other.text).toBe('two')
    hold.resolve()
    await Promise.all([first, second])
    expect(said()).toEqual([user('1'), assistant('one'), user('2')])
  })
})

describe('who speaks in chat completions', () => {
  const named = (prompt: string | null, more: object = {}) => ({
    name: `Helper ${prompt}`,
    ...(prompt ? { system_prompt: prompt } : {}),
    ...more,
  })
  const house = { messages: [{ role: 'developer', content: 'The house' }, user('hi')] }

  test("an app's prompt stands before the caller's system message", async () => {
    const chat = await tenant()
    const id = await chat.addApp(named('APP PROMPT'))
    await chat.whole({ ...house, model: id })
    expect(systemText()).toStartWith('APP PROMPT')
    expect(systemText().indexOf('The house')).toBeGreaterThan(0)
    expect(last().messages.filter(({ role }) => role === 'system')).toHaveLength(1)
  })

  test("without a prompt of the app the caller's system message is the prompt", async () => {
    const chat = await tenant()
    await chat.whole(house)
    expect(systemText()).toBe('The house')
    const id = await chat.addApp(named(null))
    await chat.whole({ ...house, model: id })
    expect(systemText()).toBe('The house')
  })

  test("an app's own temperature and thinking survive those of the request", async () => {
    const chat = await tenant()
    const id = await chat.addApp(named('x', { temperature: 0.2, thinking: false }))
    const wish = { messages: [user('hi')], temperature: 1, reasoning_effort: 'high' }
    await chat.whole({ ...wish, model: id })
    expect(last()).toMatchObject({ temperature: 0.2 })
    expect(last()).not.toHaveProperty('reasoning_effort')
    await chat.whole(wish)
    expect(last()).toMatchObject({ temperature: 1, reasoning_effort: 'medium' })
    await chat.whole({ ...wish, reasoning_effort: 'minimal' })
    expect(last()).not.toHaveProperty('reasoning_effort')
  })

  test('a general key chooses an assistant by name or id, and the answer names it', async () => {
    const chat = await tenant()
    const id = await chat.addApp({ name: '客服助手' })
    const twin = await chat.addApp({ name: 'Twin' })
    await chat.addApp({ name: 'Twin' })
    const own = await chat.addApp({ name: 'moonbase' })
    const answeredBy = async (model: unknown) => {
      const { status, body } = await chat.whole({ messages: [user('hi')], model })
      return status === 200 ? body.model : [status, body.error.code, body.error.param]
    }
    expect(await answeredBy('客服助手')).toBe('客服助手')
    expect(await answeredBy(` ${id} `)).toBe('客服助手')
    for (const model of [undefined, null, '', 'moonbase']) {
      expect(await answeredBy(model)).toBe('moonbase')
    }
    expect(await answeredBy(own)).toBe(own)
    expect(await answeredBy(twin)).toBe(twin)
    const missing = [404, 'model_not_found', 'model']
    for (const model of ['gpt-4o', 'Twin', '客服']) expect(await answeredBy(model)).toEqual(missing)
    const foreign = await (await tenant()).addApp({ name: 'theirs' })
    expect(await answeredBy(foreign)).toEqual(missing)
    expect(await answeredBy('theirs')).toEqual(missing)
  })

  test('the key of an app has one assistant, whatever the model says', async () => {
    const email = 'app-key@example.com'
    const general = await tenant({}, email)
    const appId = await general.addApp({ name: '客服', system_prompt: 'APP PROMPT' })
    await general.addApp({ name: 'other' })
    const chat = await tenant({ appId }, email)
    for (const model of ['gpt-4o', 'other', 'moonbase', undefined]) {
      const { body } = await chat.whole({ messages: [user('hi')], model })
      expect(body.model).toBe('客服')
      expect(systemText()).toBe('APP PROMPT')
    }
    const list = await chat.call<{ data: { id: string }[] }>('GET', '/models')
    expect(list.data.map(({ id }) => id)).toEqual(['客服'])
    for (const name of ['moonbase', 'other']) {
      expect(await chat.call('GET', `/models/${name}`)).toMatchObject({
        error: { code: 'model_not_found' },
      })
    }
    expect(await chat.call('GET', `/models/${appId}`)).toMatchObject({ id: '客服' })
  })

  test('a device answers as its app, and without one as the tenant', async () => {
    const email = 'device@example.com'
    const appId = await (await tenant({}, email)).addApp({ name: '客服' })
    for (const [scope, name] of [
      [{ appId, deviceId: 'd1' }, '客服'],
      [{ deviceId: 'd2' }, 'moonbase'],
    ] as const) {
      const device = await tenant(scope, email)
      const { body } = await device.whole({ messages: [user('hi')], model: 'gpt-4o' })
      expect(body.model).toBe(name)
      const { data } = await device.call<{ data: { id: string }[] }>('GET', '/models')
      expect(data.map(({ id }) => id)).toEqual([name])
    }
  })

  test('the log and the session index have the app that a general key names', async () => {
    const chat = await tenant()
    const id = await chat.addApp({ name: 'Named' })
    await chat.whole({ messages: [user('héllo')], model: 'Named', session_id: 's' })
    await chat.stream({ messages: [user('hi')] })
    expect(await chat.sessions()).toMatchObject([{ id: 's', app_id: id }])
    await chat.call('GET', '/models')
    await server.app.flush()
    const { logs } = await chat.call<{ logs: object[] }>(
      'GET',
      '/logs?endpoint=/v1/chat/completions',
    )
    const endpoint = '/v1/chat/completions'
    expect(logs).toMatchObject([
      { endpoint, status: 200, channel: 'platform', session_id: null, app_id: null, text_chars: 2 },
      { endpoint, status: 200, channel: 'platform', session_id: 's', app_id: id, text_chars: 5 },
    ])
  })

  test('models are listed with moonbase first and the newest app next', async () => {
    const chat = await tenant()
    const older = await chat.addApp({ name: '旧 a/b' })
    const newer = await chat.addApp({ name: 'new' })
    const list = await chat.call<{ object: string; data: { id: string }[] }>('GET', '/models')
    const shared = { object: 'model', created: expect.any(Number), owned_by: 'moonbase' }
    expect(list).toEqual({
      object: 'list',
      data: [
        { id: 'moonbase', ...shared },
        { id: 'new', ...shared, moonbase: { app_id: newer } },
        { id: '旧 a/b', ...shared, moonbase: { app_id: older } },
      ],
    } as never)
    for (const name of ['旧 a/b', older]) {
      const found = await chat.call('GET', `/models/${encodeURIComponent(name)}`)
      expect(found).toEqual(list.data[2])
    }
  })
})
