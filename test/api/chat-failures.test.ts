import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import OpenAI from 'openai'
import { startApp } from '../support/app.ts'
import { chatTenant, clientTool, user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { postSse } from '../support/sse.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const CRASHING = new URL('../support/crashing-writer.ts', import.meta.url).href
const HI = { messages: [user('hi')] }
const IN_SESSION = { ...HI, session_id: 's' }

/** A tenant with a channel of its own. */
async function byoTenant(failover = true) {
  const chat = await chatTenant(server.app)
  const body = { base_url: server.byo.baseUrl, api_key: 'sk-SECRET', failover }
  await chat.call('PUT', '/provider', body)
  return chat
}

describe('failover of chat completions', () => {
  test('a takeover is announced before any text', async () => {
    const chat = await byoTenant()
    server.byo.chat.alwaysFault(500)
    const { order, chunks } = await chat.stream(IN_SESSION)
    expect(order).toBe('RFCSD')
    const told = { from: 'byo', reason: 'upstream_5xx' }
    expect(chunks[1]?.moonbase).toEqual({ provider_fallback: told })
    expect(chunks.at(-1)?.moonbase).toMatchObject({ stats: { channel: 'platform_fallback' } })
    expect(await chat.history('s')).toHaveLength(2)
  })

  test('a takeover is announced in the body and the header of a whole answer', async () => {
    const chat = await byoTenant()
    server.byo.chat.alwaysFault(401)
    const { status, headers, body } = await chat.whole(HI)
    expect([status, headers.get('x-moonbase-channel')]).toEqual([200, 'platform_fallback'])
    expect(body.moonbase).toEqual({
      provider_fallback: { from: 'byo', reason: 'upstream_4xx' },
      stats: { iterations: 1, channel: 'platform_fallback' },
    })
    server.byo.reset()
    expect((await chat.whole(HI)).headers.get('x-moonbase-channel')).toBe('byo')
  })

  test('a failure after text ends a chat completion with an error frame', async () => {
    const chat = await byoTenant()
    server.byo.fault('cut', { after: 2 })
    const { order, text, error } = await chat.stream(IN_SESSION)
    expect([order, text]).toEqual(['RCCE', 'one two '])
    expect(error).toMatchObject({ type: 'upstream_error', code: 'provider_error' })
    expect(server.asked(server.platform)).toEqual([])
    expect(await chat.sessions()).toEqual([])
  })

  test('a whole answer is taken over after any text, which is forgotten', async () => {
    const chat = await byoTenant()
    server.byo.fault('cut', { after: 2 })
    const { body } = await chat.whole(HI)
    expect(body.choices[0].message.content).toBe('好的')
    expect(body.moonbase).toMatchObject({ provider_fallback: { reason: 'provider_error' } })
  })

  test('server tools that ran before a takeover are reported before it', async () => {
    const chat = await byoTenant()
    server.byo.reply({ toolCalls: [{ name: 'current_time', arguments: {} }] })
    server.byo.fault(401)
    expect((await chat.stream(HI)).order).toBe('RtTFCSD')
  })

  test("OpenAI's client asks once when a model has failed", async () => {
    const chat = await byoTenant(false)
    const client = new OpenAI({ apiKey: chat.key, baseURL: `${server.app.url}/v1`, maxRetries: 2 })
    server.byo.chat.alwaysFault(401)
    const ask = client.chat.completions.create({ ...HI, model: 'moonbase' } as never)
    const error = await ask.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 502, type: 'upstream_error', code: 'upstream_4xx' })
    expect((error as { headers: Headers }).headers.get('x-should-retry')).toBe('false')
    expect(server.asked(server.byo)).toHaveLength(1)
  })
})

describe('ends of chat completions', () => {
  test('a client that leaves ends the model call, and nothing is stored', async () => {
    const chat = await chatTenant(server.app)
    const never = new Promise<void>(() => {})
    for (const stream of [true, false]) {
      server.platform.reply({ pieces: ['one'], hold: { after: 1, until: never } })
      const left = new AbortController()
      const asked = fetch(`${server.app.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...chat.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ ...IN_SESSION, stream }),
        signal: left.signal,
      }).then((response) => response.text())
      await server.platform.nextRequest()
      left.abort()
      expect(await asked.catch(() => 'left')).toBe('left')
      await server.platform.aborted()
    }
    expect(await chat.sessions()).toEqual([])
  })

  test('a key that is revoked ends its chat completions', async () => {
    const chat = await chatTenant(server.app)
    const hold = Promise.withResolvers<void>()
    const held = { pieces: ['one', 'two'], hold: { after: 1, until: hold.promise } }
    server.platform.chat.always(held)
    const whole = chat.whole(HI)
    const streamed = chat.stream(HI)
    await server.platform.nextRequest()
    await server.platform.nextRequest()
    const person = await server.app.person(chat.email)
    await fetch(`${server.app.url}/console/keys/${chat.id}`, {
      method: 'DELETE',
      headers: person.headers,
    })
    hold.resolve()
    expect((await streamed).error).toMatchObject({ code: 'invalid_api_key' })
    expect(await whole).toMatchObject({ status: 401, body: { error: { param: null } } })
  })

  test('fifty streams at once are each whole', async () => {
    const chat = await chatTenant(server.app)
    server.platform.chat.always((request) => {
      const { content = '' } = request.body.messages.at(-1) as { content?: string }
      return { pieces: [...content] }
    })
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => chat.stream({ messages: [user(`answer ${n}`)] })),
    )
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, n) => `answer ${n}`))
  })

  test('a stream opens before the model has said a word', async () => {
    const chat = await chatTenant(server.app)
    const hold = Promise.withResolvers<void>()
    server.platform.reply({ text: 'late', holdHeaders: hold.promise })
    const { body } = await chat.post({ ...HI, stream: true })
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('"role":"assistant"')) {
      text += new TextDecoder().decode((await reader.read()).value)
    }
    expect(text).toStartWith(':')
    hold.resolve()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += new TextDecoder().decode(read.value)
    }
    expect(text).toEndWith('data: [DONE]\n\n')
  })

  test('a server without a free stream answers 503, for whole answers and streams', async () => {
    const env = { MB_MAX_STREAMS: '1' }
    await using app = await startApp({ upstream: server.platform.baseUrl, env })
    const chat = await chatTenant(app)
    const hold = Promise.withResolvers<void>()
    server.platform.reply({ pieces: ['a', 'b'], hold: { after: 1, until: hold.promise } })
    const first = chat.whole(HI)
    await server.platform.nextRequest()
    for (const stream of [true, false]) {
      const { status, headers, body } = await chat.whole({ ...HI, stream })
      expect([status, body.error.type, body.error.code]).toEqual([
        503,
        'server_error',
        'overloaded',
      ])
      expect(headers.get('retry-after')).toBe('1')
      expect(headers.has('x-should-retry')).toBe(false)
    }
    hold.resolve()
    expect((await first).status).toBe(200)
    expect((await chat.stream(HI)).text).toBe('好的')
  })

  test('a server that stops ends whole answers and streams with an error', async () => {
    const app = await startApp({ upstream: server.platform.baseUrl })
    const chat = await chatTenant(app)
    const hold = Promise.withResolvers<void>()
    server.platform.chat.always({ pieces: ['a', 'b'], hold: { after: 1, until: hold.promise } })
    const answers = [chat.stream(HI), chat.whole(HI)] as const
    await server.platform.nextRequest()
    await server.platform.nextRequest()
    app.stopTurns()
    const [streamed, whole] = await Promise.all(answers)
    expect(streamed.error).toMatchObject({ type: 'server_error', code: 'overloaded' })
    expect([whole.status, whole.body.error.code]).toEqual([503, 'overloaded'])
    hold.resolve()
    await app[Symbol.asyncDispose]()
  })

  test('a long answer that nobody reads is counted until its client has gone', async () => {
    const chat = await chatTenant(server.app)
    // Six bytes each in JSON: more than the buffers of both sockets take.
    const pieces = Array.from({ length: 190 }, () => '\u0001'.repeat(10_000))
    const said = pieces.join('')
    server.platform.chat.always({ pieces })
    expect((await chat.whole(HI)).body.choices[0].message.content).toBe(said)
    const body = JSON.stringify(HI)
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'Host: localhost',
      `Authorization: ${chat.headers.authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    const port = Number(new URL(server.app.url).port)
    const deaf = connect(port, '127.0.0.1')
    await once(deaf, 'connect')
    deaf.pause()
    deaf.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    // The turn holds two bytes for each character, the answer four.
    while (server.app.budget.used <= 3 * said.length) await fetch(`${server.app.url}/healthz`)
    deaf.destroy()
    while (server.app.budget.used > 0) await fetch(`${server.app.url}/healthz`)
  })

  test('clients are told not to retry a turn that cannot be stored', async () => {
    const options = { upstream: server.platform.baseUrl, writerUrl: CRASHING }
    await using app = await startApp(options)
    const chat = await chatTenant(app)
    const lost = await chat.whole({ messages: [user('die')], session_id: 's' })
    expect([lost.status, lost.body.error.type]).toEqual([500, 'server_error'])
    expect(lost.headers.get('x-should-retry')).toBe('false')
  })

  test('a model without tools answers all the same', async () => {
    const chat = await chatTenant(server.app)
    server.platform.fault(400, { body: 'tools are not supported' })
    const { body } = await chat.whole({ ...HI, tools: [clientTool('lamp')] })
    expect(body.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: '好的' } })
  })

  test('a large conversation with images passes, and one beyond 48 MB does not', async () => {
    const chat = await chatTenant(server.app)
    const data = `data:image/png;base64,${'A'.repeat(6 * 1024 * 1024)}`
    const parts = [
      { type: 'text', text: 'hi' },
      { type: 'image_url', image_url: { url: data } },
    ]
    const messages = [user(parts), { role: 'assistant', content: 'ok' }, user('again')]
    expect((await chat.whole({ messages })).status).toBe(200)
    const many = { messages: Array.from({ length: 9 }, () => user(parts)) }
    const answer = await chat.whole(many)
    expect([answer.status, answer.body.error.code]).toEqual([413, 'request_too_large'])
  })

  test('the events of the other door are as they were', async () => {
    const chat = await chatTenant(server.app)
    const stream = await postSse(`${server.app.url}/v1/agent`, {
      headers: chat.headers,
      body: { text: 'hi' },
    })
    const types = (await stream.all()).map(({ event }) => event)
    expect(types).toEqual(['llm_delta', 'stats', 'llm_end'])
  })
})
