import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startApp } from '../support/app.ts'
import { startConversation } from '../support/conversation.ts'

const conversation = await startConversation()
const { upstream, freshSession, ask, history } = conversation
afterEach(() => upstream.reset())
afterAll(conversation.stop)

describe('a client that leaves', () => {
  test('a client that leaves aborts the upstream call, and the turn is not stored', async () => {
    const session = freshSession()
    const never = new Promise(() => {})
    upstream.reply({ pieces: ['a', 'b', 'c'], hold: { after: 1, until: never } })
    const stream = await ask({ text: 'hi', session_id: session })
    for await (const { data } of stream) if (data.type === 'llm_delta') break
    stream.abort()
    await upstream.aborted()
    await (await ask({ text: 'next', session_id: session })).all()
    const told = await history(session)
    expect(told.messages.map(({ content }: { content: string }) => content)[0]).toBe('next')
  })
})

describe('a client that leaves before anything has come', () => {
  test('a client that leaves before anything has come aborts the upstream call', async () => {
    // With the usual patience: silence must not be what ends the call.
    await using patient = await startApp({ upstream: upstream.baseUrl })
    const { headers } = await patient.key()
    upstream.reply({ text: 'never', hold: { after: 0, until: new Promise(() => {}) } })
    const body = JSON.stringify({ text: 'hi', session_id: freshSession() })
    const socket = connect(Number(new URL(patient.url).port), '127.0.0.1')
    socket.write(
      `POST /v1/agent HTTP/1.1\r\nhost: localhost\r\nauthorization: ${headers.authorization}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await upstream.nextRequest('/chat/completions')
    socket.destroy()
    await upstream.aborted()
  })
})

describe('turns of one session', () => {
  test('turns of a session run in arrival order, other sessions side by side', async () => {
    const session = freshSession()
    const gate = Promise.withResolvers<void>()
    upstream.reply({ text: 'slow', hold: { after: 0, until: gate.promise } })
    const first = await ask({ text: 'one', session_id: session })
    await upstream.nextRequest('/chat/completions')
    const second = await ask({ text: 'two', session_id: session })
    const third = await ask({ text: 'three', session_id: session })
    const other = await ask({ text: 'other', session_id: freshSession() })
    expect((await other.all()).at(-1)?.data.type).toBe('llm_end')
    expect(upstream.requests).toHaveLength(2)
    gate.resolve()
    await Promise.all([first.all(), second.all(), third.all()])
    const { messages } = await history(session)
    const said = messages.filter(({ role }: { role: string }) => role === 'user')
    expect(said.map(({ content }: { content: string }) => content)).toEqual(['one', 'two', 'three'])
  })

  test('a turn that fails does not hold up the next one of its session', async () => {
    const session = freshSession()
    const gate = Promise.withResolvers<void>()
    upstream.reply({ payloads: ['not JSON'], hold: { after: 0, until: gate.promise } })
    const first = await ask({ text: 'one', session_id: session })
    await upstream.nextRequest('/chat/completions')
    const second = await ask({ text: 'two', session_id: session })
    gate.resolve()
    expect((await first.all()).at(-1)?.data.type).toBe('error')
    expect((await second.all()).at(-1)?.data.type).toBe('llm_end')
  })

  test('a waiting client that leaves does not hold up the next turn of its session', async () => {
    const session = freshSession()
    const gate = Promise.withResolvers<void>()
    upstream.reply({ text: 'slow', hold: { after: 0, until: gate.promise } })
    const first = await ask({ text: 'one', session_id: session })
    await upstream.nextRequest('/chat/completions')
    const second = await ask({ text: 'two', session_id: session })
    second.abort()
    const third = await ask({ text: 'three', session_id: session })
    gate.resolve()
    await Promise.all([first.all(), third.all()])
    const said = (await history(session)).messages.map(
      ({ content }: { content: string }) => content,
    )
    expect(said).toContain('three')
    expect(said).not.toContain('two')
  })
})
