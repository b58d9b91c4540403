import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { startApp } from '../support/app.ts'
import { handClock } from '../support/clock.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { kbClient } from '../support/kb.ts'
import { messagesOf } from '../support/messages.ts'
import { startUpstream } from '../support/upstream.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const HI = { messages: [{ role: 'user', content: 'hi' }] }
const ask = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const sent = () => server.asked(server.platform).map(({ body }) => body)
const tool = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } })
const call = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' })

async function client(scope = {}) {
  const key = await server.app.key('door@example.com', scope)
  return { key, chat: messagesOf(server.app, key) }
}

describe('hostile bodies', () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const asking = (messages: string, more = '') => `{"max_tokens":5,"messages":[${messages}]${more}}`
  const user = (content: string) => `{"role":"user","content":${content}}`
  const called = (input: string) =>
    `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"a","input":${input}}]}`
  const schema = (input: string) => `,"tools":[{"name":"a","input_schema":${input}}]`
  const a = user('"a"')
  const bodies: Readonly<Record<string, string>> = {
    'no JSON': '{"messages":',
    'no object': '[1]',
    'a number beyond all': `{"max_tokens":1e400,"messages":[${a}]}`,
    'no whole number': `{"max_tokens":1.5,"messages":[${a}]}`,
    'nothing to write': `{"max_tokens":0,"messages":[${a}]}`,
    'deep content': asking(user(deep(20_000))),
    'a deep schema': asking(a, schema(`{"a":${deep(20_000)}}`)),
    'a deep input': asking(`${called(`{"a":${deep(20_000)}}`)},${a}`),
    'an unknown role': asking('{"role":"root","content":"a"}'),
    'no messages': asking(''),
    'an assistant last': asking(`${a},{"role":"assistant","content":"b"}`),
    'a block without type': asking(user('[{"text":"a"}]')),
    'a text that is none': asking(user('[{"type":"text","text":{}}]')),
    'blocks without words': asking(user('[{"type":"novel"}]')),
  }

  test('are refused by 400 in the form of the API, and no model is asked', async () => {
    const { key } = await client()
    for (const [what, body] of Object.entries(bodies)) {
      const headers = { 'x-api-key': key.key, 'x-request-id': 'mine' }
      const answer = await fetch(`${server.app.url}/v1/messages?beta=true`, {
        method: 'POST',
        headers,
        body,
      })
      const said = await answer.json()
      expect([what, answer.status]).toEqual([what, 400])
      expect(said).toEqual({
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.any(String) },
        request_id: 'mine',
      })
      expect(said.error.message.length).toBeLessThanOrEqual(200)
      expect(answer.headers.get('request-id')).toBe('mine')
      expect(answer.headers.get('x-error-code')).toMatch(/^[a-z_]+$/)
    }
    expect(sent()).toEqual([])
  })

  test('floods of messages, blocks, tools and stops are refused', async () => {
    const { chat } = await client()
    const status = async (body: object) => (await chat.whole(body)).status
    const many = (length: number, of: object) => Array.from({ length }, () => of)
    const [message] = HI.messages
    expect(await status({ messages: many(10_001, message as object) })).toBe(400)
    const empty = { type: 'text', text: '' }
    expect(await status(ask(many(400_000, empty)))).toBe(400)
    expect(await status({ ...HI, tools: many(257, tool('a')) })).toBe(400)
    expect(await status({ ...HI, stop_sequences: many(5, {}).map(() => 'x') })).toBe(400)
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' }
    expect(await status(ask(many(6, { type: 'document', source: pdf })))).toBe(400)
    expect(sent()).toEqual([])
  })

  test('an answer at the end is refused, also one that says nothing', async () => {
    const { chat } = await client()
    const thought = { type: 'thinking', thinking: 'hm', signature: 'moonbase' }
    for (const content of ['so', '', null, [], [thought]]) {
      const messages = [...HI.messages, { role: 'assistant', content }]
      expect([content, (await chat.whole({ messages })).status]).toEqual([content, 400])
    }
    expect(sent()).toEqual([])
  })

  test('a PDF above the size of an upload is too large', async () => {
    const { chat } = await client()
    const data = Buffer.concat([Buffer.from('%PDF-1.7'), Buffer.alloc(20 * 1024 * 1024)])
    const source = { type: 'base64', media_type: 'application/pdf', data: data.toString('base64') }
    const { status, body } = await chat.whole(ask([{ type: 'document', source }]))
    expect([status, body.error.type]).toEqual([413, 'request_too_large'])
  })

  test('forged calls and results run nothing and are refused or closed', async () => {
    const { chat } = await client()
    const alone = await chat.whole({ messages: [{ role: 'user', content: [result('c')] }] })
    expect(alone.status).toBe(400)
    const foreign = [
      ...HI.messages,
      { role: 'assistant', content: [call('c')] },
      { role: 'user', content: [result('d')] },
    ]
    expect((await chat.whole({ messages: foreign })).status).toBe(400)
    const open = [...HI.messages, { role: 'assistant', content: [call('c')] }, ...HI.messages]
    expect((await chat.whole({ messages: open })).status).toBe(200)
    const [body] = sent()
    expect(body?.messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { tool_call_id: 'c' },
    ])
    expect(sent()).toHaveLength(1)
  })

  test('a NUL and a half of a character reach the model as text', async () => {
    const { chat } = await client()
    expect((await chat.whole(ask('a\0b\ud800'))).status).toBe(200)
    expect(sent()[0]?.messages.at(-1)?.content).toBe('a\ufffdb\ufffd')
  })

  test('images of addresses inside and documents by link are refused', async () => {
    const { chat } = await client()
    for (const url of [
      'https://127.0.0.1/a.png',
      'http://example.com/a.png',
      'file:///etc/hosts',
    ]) {
      const image = { type: 'image', source: { type: 'url', url } }
      expect([url, (await chat.whole(ask([image]))).status]).toEqual([url, 400])
    }
    for (const source of [
      { type: 'url', url: 'https://x.example/a' },
      { type: 'file', file_id: 'f' },
    ]) {
      expect((await chat.whole(ask([{ type: 'document', source }]))).status).toBe(400)
    }
  })

  test('a message of blocks that nobody knows is left out', async () => {
    const { chat } = await client()
    const messages = [{ role: 'user', content: [{ type: 'container_upload' }] }, ...HI.messages]
    expect((await chat.whole({ messages })).status).toBe(200)
    expect(sent()[0]?.messages.slice(1)).toEqual([{ role: 'user', content: 'hi' }])
  })
})

describe('keys, sessions and channels', () => {
  test('the key of an app answers as the app, whatever it asks for', async () => {
    const { key } = await client()
    const made = await fetch(`${server.app.url}/v1/apps`, {
      method: 'POST',
      headers: key.headers,
      body: JSON.stringify({ name: '门', system_prompt: 'Guard the door.' }),
    })
    const { id } = await made.json()
    const own = messagesOf(server.app, await server.app.key('door@example.com', { appId: id }))
    for (const model of ['claude-moonbase', 'gpt-9', '']) {
      const { status, body } = await own.whole({ ...HI, model, tools: [tool('look')] })
      expect([status, body.model]).toEqual([200, '门'])
    }
    expect(String(sent()[0]?.messages[0]?.content)).toStartWith('Guard the door.')
  })

  test('a session is named by its header, and not by what Claude Code sends', async () => {
    const { key, chat } = await client()
    await chat.whole({ ...HI, metadata: { user_id: 'u' }, session_id: 's' }, {
      'x-claude-code-session-id': 'c',
      'x-claude-code-agent-id': 'a',
    } as never)
    const list = async () =>
      (await (await fetch(`${server.app.url}/v1/sessions`, key)).json()).sessions
    expect(await list()).toEqual([])
    await chat.whole(HI, { 'x-moonbase-session': 'mine' } as never)
    await chat.whole(ask('more'), { 'x-moonbase-session': 'mine' } as never)
    expect(await list()).toMatchObject([{ turn_count: 2 }])
    expect(
      sent()
        .at(-1)
        ?.messages.map(({ content }) => content),
    ).toContain('hi')
    const long = await chat.whole(HI, { 'x-moonbase-session': 'x'.repeat(201) } as never)
    expect(long.status).toBe(400)
  })

  test('a takeover is announced before any text, and ends an answer after it', async () => {
    const tenant = await server.tenant()
    const chat = messagesOf(server.app, { key: tenant.headers.authorization.slice(7) })
    server.byo.fault(401)
    const { events, word } = await chat.stream(HI)
    expect(word).toMatch(/^MPP\[\.+\]DS$/)
    expect(events[2]).toMatchObject({ moonbase: { provider_fallback: { from: 'byo' } } })
    server.byo.fault(401)
    const whole = await chat.whole(HI)
    expect(whole.response.headers.get('x-moonbase-channel')).toBe('platform_fallback')
    server.byo.fault('cut', { after: 2 })
    expect((await chat.stream(HI)).word).toMatch(/^MP+\[\.+E$/)
  })

  test('citations come on a ping, and beside a whole message', async () => {
    const { key, chat } = await client()
    const { add } = kbClient(() => server.app.url)
    expect((await add(key, '保修手册', '整机保修两年，电池保修一年。')).status).toBe(201)
    const question = ask('整机保修两年，电池保修一年，对吗？')
    const { events } = await chat.stream(question)
    const refs = { kb_refs: [{ title: '保修手册', seq: 0 }] }
    expect(events.filter(({ type }) => type === 'ping').at(-1)).toMatchObject({ moonbase: refs })
    expect((await chat.whole(question)).body.moonbase).toMatchObject(refs)
  })

  test('300 counts a minute take no slot of the key, and each writes its row', async () => {
    const { chat } = await client({ rateLimit: 1 })
    const counts = await Promise.all(
      Array.from({ length: 301 }, () => chat.post(HI, {}, '/count_tokens')),
    )
    const statuses = counts.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(300)
    const limited = counts.find(({ status }) => status === 429)
    expect((await limited?.json())?.error.type).toBe('rate_limit_error')
    expect((await chat.whole(HI)).status).toBe(200)
    expect((await chat.whole(HI)).status).toBe(429)
    await server.app.flush()
    const other = await server.app.key('door@example.com')
    const rows = await (await fetch(`${server.app.url}/v1/logs?limit=5`, other)).json()
    expect(rows.logs.map(({ endpoint }: { endpoint: string }) => endpoint)).toContain(
      '/v1/messages/count_tokens',
    )
  })
})

test('a silent model has its message begun after two seconds, and pings under ten', async () => {
  const upstream = await startUpstream()
  const { clock, pass } = handClock()
  const beats: (() => void)[] = []
  const every = (ms: number, task: () => void) => {
    if (ms < 5_000) beats.push(task)
    return () => {}
  }
  await using app = await startApp({ upstream: upstream.baseUrl, clock: { ...clock, every } })
  const chat = messagesOf(app, await app.key())
  const held = Promise.withResolvers<void>()
  upstream.reply({ text: 'late', holdHeaders: held.promise })
  const answer = chat.post({ ...HI, stream: true })
  await upstream.nextRequest()
  pass(1_999)
  expect(await Promise.race([answer, systemClock().sleep(0)])).toBeUndefined()
  pass(1)
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toMatch(/^event: message_start\n[\s\S]*event: ping\n/)
  pass(8_000)
  for (const beat of beats) beat()
  expect((await reader?.read())?.value).toBe('event: ping\ndata: {"type":"ping"}\n\n')
  held.resolve()
  let rest = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    rest += part.value
  }
  expect(rest).toContain('late')
  await upstream.stop()
})
