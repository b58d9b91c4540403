import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { startConversation, turnStats } from '../support/conversation.ts'

const conversation = await startConversation({ silenceMs: 300 })
const { upstream, app, key, freshSession, ask, history } = conversation
afterEach(() => upstream.reset())
afterAll(conversation.stop)
const types = (events: readonly { data: Record<string, unknown> }[]) =>
  events.map(({ data }) => data.type)

describe('a successful turn', () => {
  test('a turn streams increments, then stats, then the whole reply', async () => {
    upstream.reply({ pieces: ['你', '好', '！'] })
    const stream = await ask({ text: '在吗', session_id: freshSession() })
    const events = await stream.all()
    expect(events.map(({ data }) => data)).toEqual([
      { type: 'llm_delta', text: '你' },
      { type: 'llm_delta', text: '好' },
      { type: 'llm_delta', text: '！' },
      turnStats('platform'),
      { type: 'llm_end', reply: '你好！', seq: 1 },
    ])
    for (const { event, data } of events) expect(event).toBe(String(data.type))
  })

  test('a turn has the headers of the specification', async () => {
    const stream = await ask({ text: 'hi', session_id: freshSession() })
    await stream.all()
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toStartWith('text/event-stream')
    expect(stream.headers.get('cache-control')).toBe('no-cache')
    expect(stream.headers.get('x-accel-buffering')).toBe('no')
    expect(stream.headers.get('x-request-id')).toBeTruthy()
  })

  test('a turn sends headers before the model has said anything', async () => {
    const speak = Promise.withResolvers<void>()
    upstream.reply({ text: 'late', holdHeaders: speak.promise })
    // Resolves with the headers; the model says nothing until then.
    const stream = await ask({ text: 'hi', session_id: freshSession() })
    expect(stream.status).toBe(200)
    speak.resolve()
    expect(await stream.text()).toStartWith(': ok\n\nevent: llm_delta\n')
  })

  test('a stream holds frames of an event and a data line after its opening comment', async () => {
    upstream.reply({ text: 'plain' })
    const stream = await ask({ text: 'hi', session_id: freshSession() })
    const [opening, ...frames] = (await stream.text()).trimEnd().split('\n\n')
    expect(opening).toBe(': ok')
    expect(frames.length).toBeGreaterThan(2)
    for (const frame of frames) expect(frame).toMatch(/^event: (\w+)\ndata: \{"type":"\1",.*\}$/)
  })

  test('a turn is in the history as soon as llm_end was seen', async () => {
    const session = freshSession()
    upstream.reply({ text: 'one' })
    for await (const { data } of await ask({ text: 'first', session_id: session })) {
      if (data.type !== 'llm_end') continue
      expect(await history(session)).toEqual({
        messages: [
          { role: 'user', content: 'first' },
          { role: 'assistant', content: 'one' },
        ],
        summary: '',
        count: 2,
      })
    }
  })

  test('a turn gives the model what was said before', async () => {
    const session = freshSession()
    upstream.reply({ text: 'one' })
    await (await ask({ text: 'first', session_id: session })).all()
    await (await ask({ text: 'second', session_id: session })).all()
    const { messages } = upstream.requests[1]?.body ?? { messages: [] }
    expect(messages.map(({ role, content }) => [role, content]).slice(1)).toEqual([
      ['user', 'first'],
      ['assistant', 'one'],
      ['user', 'second'],
    ])
  })

  test('a turn without a session goes to the session anon', async () => {
    await (await ask({ text: 'nameless' })).all()
    await (await ask({ text: 'blank', session_id: '  ' })).all()
    const anon = await history('anon')
    expect(anon.messages.map(({ content }: { content: string }) => content)).toContain('nameless')
    expect(anon.messages.map(({ content }: { content: string }) => content)).toContain('blank')
  })

  test('a turn of a model that never stops is cut, and not stored', async () => {
    const session = freshSession()
    upstream.reply({ pieces: Array.from({ length: 41 }, () => 'x'.repeat(50_000)) })
    const events = await (await ask({ text: 'hi', session_id: session })).all()
    expect(events.at(-1)?.data.type).toBe('error')
    expect((await history(session)).count).toBe(0)
  })

  test('a turn shows an image to the model, and history keeps a placeholder', async () => {
    const session = freshSession()
    const image = 'data:image/png;base64,iVBORw0KGgo='
    await (await ask({ text: 'what is this', session_id: session, images: [image] })).all()
    expect(JSON.stringify(upstream.requests[0]?.body.messages)).toContain(image)
    const told = JSON.stringify(await history(session))
    expect(told).not.toContain('base64')
    expect(told).toContain('[图片]')
  })
})

describe('tools', () => {
  test('tools run between increments, and their events hold the name only', async () => {
    upstream.reply({
      text: 'Let me see. ',
      toolCalls: [{ name: 'calculator', arguments: { expression: '6*7' } }],
    })
    upstream.reply({ text: 'It is 42.' })
    const stream = await ask({ text: 'six times seven', session_id: freshSession() })
    const events = await stream.all()
    const told = types(events).filter((type) => type !== 'llm_delta')
    expect(told).toEqual(['tool_call', 'tool_result', 'stats', 'llm_end'])
    const data = events.map((event) => event.data)
    expect(data).toContainEqual({ type: 'tool_call', name: 'calculator' })
    expect(data).toContainEqual({ type: 'tool_result', name: 'calculator', ok: true })
    expect(data).toContainEqual(turnStats('platform', 2))
    expect(data.at(-1)).toEqual({ type: 'llm_end', reply: 'Let me see. It is 42.', seq: 1 })
    const answer = upstream.requests[1]?.body.messages.at(-1)
    expect(answer?.role).toBe('tool')
    expect(String(answer?.content)).toContain('42')
  })

  test('a tool that fails has an event that says so, and the model learns why', async () => {
    upstream.reply({ toolCalls: [{ name: 'calculator', arguments: '{broken' }] })
    upstream.reply({ toolCalls: [{ name: 'no_such_tool' }] })
    upstream.reply({ text: 'I could not.' })
    const events = await (await ask({ text: 'try', session_id: freshSession() })).all()
    const results = events.map(({ data }) => data).filter(({ type }) => type === 'tool_result')
    expect(results).toEqual([
      { type: 'tool_result', name: 'calculator', ok: false },
      { type: 'tool_result', name: 'no_such_tool', ok: false },
    ])
    expect(events.at(-1)?.data.reply).toBe('I could not.')
  })

  test('a turn calls tools for at most seven rounds, then the model must answer', async () => {
    for (let i = 0; i < 7; i++) upstream.reply({ toolCalls: [{ name: 'current_time' }] })
    upstream.reply({ text: 'enough' })
    const events = await (await ask({ text: 'loop', session_id: freshSession() })).all()
    expect(events.at(-1)?.data.reply).toBe('enough')
    expect(events.at(-2)?.data.iterations).toBe(8)
    expect(upstream.requests).toHaveLength(8)
    expect(upstream.requests[7]?.body.tools ?? []).toEqual([])
  })

  test('a turn offers no tools to a model that refuses them', async () => {
    upstream.fault(400, { body: '{"error":{"message":"this model does not support tools"}}' })
    upstream.reply({ text: 'plain' })
    const events = await (await ask({ text: 'hi', session_id: freshSession() })).all()
    expect(events.at(-1)?.data).toEqual({ type: 'llm_end', reply: 'plain', seq: 1 })
    expect(upstream.requests[0]?.body.tools).toBeDefined()
    expect(upstream.requests[1]?.body.tools).toBeUndefined()
  })
})

describe('a failed turn', () => {
  const faults: [string, () => void][] = [
    ['cut mid-stream', () => upstream.fault('cut', { after: 2 })],
    ['ended early', () => upstream.fault('eof', { after: 2 })],
    ['silent mid-stream', () => upstream.fault('hang', { after: 2 })],
    ['malformed', () => upstream.fault('malformed', { after: 2 })],
    ['error object mid-stream', () => upstream.fault('error', { after: 2 })],
    ['HTML instead of a stream', () => upstream.fault('html')],
    ['JSON instead of a stream', () => upstream.fault('json')],
    ['an empty answer', () => upstream.fault('empty')],
    ['a refusal', () => upstream.fault(401)],
    ['an unknown model', () => upstream.fault(404)],
  ]
  for (const [name, arrange] of faults) {
    test(`a failed turn ends with one error, stores and leaks nothing: ${name}`, async () => {
      arrange()
      const session = freshSession()
      const stream = await ask({ text: 'hi', session_id: session })
      const events = await stream.all()
      expect(stream.status).toBe(200)
      expect(types(events).filter((type) => type !== 'llm_delta')).toEqual(['error'])
      expect(String(events.at(-1)?.data.message)).toMatch(/\p{Script=Han}/u)
      expect(events.map(({ raw }) => raw).join('')).not.toContain('SECRET')
      expect(app.log()).not.toContain('SECRET')
      expect(await history(session)).toEqual({ messages: [], summary: '', count: 0 })
      const list = await fetch(`${app.url}/v1/sessions`, { headers: key.headers })
      const { sessions: rows } = (await list.json()) as { sessions: { id: string }[] }
      expect(rows.map(({ id }) => id)).not.toContain(session)
    })
  }

  test('a failed turn leaves an existing session as it was', async () => {
    const session = freshSession()
    await (await ask({ text: 'fine', session_id: session })).all()
    const before = await history(session)
    upstream.fault('cut', { after: 1 })
    await (await ask({ text: 'broken', session_id: session })).all()
    expect(await history(session)).toEqual(before)
  })

  test('a failed turn is tried again only when that can help', async () => {
    upstream.fault(503, { retryAfter: '0' })
    upstream.reply({ text: 'second try' })
    const events = await (await ask({ text: 'hi', session_id: freshSession() })).all()
    expect(events.at(-1)?.data.reply).toBe('second try')
    expect(upstream.requests).toHaveLength(2)
    upstream.reset()
    upstream.fault(401)
    await (await ask({ text: 'hi', session_id: freshSession() })).all()
    expect(upstream.requests).toHaveLength(1)
  })
})
