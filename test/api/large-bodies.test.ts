import { afterAll, afterEach, expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect } from 'node:net'
import { BODY_COST } from '../../src/core/limits/machine.ts'
import { startApp, type TestKey } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream } from '../support/upstream.ts'

const MB = 1024 * 1024
const upstream = await startUpstream()
const app = await startApp({ upstream: upstream.baseUrl, requestBytesMax: 4.5 * MB * BODY_COST })
const [mine, others] = [await app.key('a@example.com'), await app.key('b@example.com')]
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** A turn whose body has this many bytes, nearly all of them one image. */
function turnOf(bytes: number) {
  const image = `data:image/png;base64,${'A'.repeat(Math.floor(bytes / 4) * 4)}`
  return { text: 'hi', kb: false, session_id: crypto.randomUUID(), images: [image] }
}
const ask = (key: TestKey, bytes: number) =>
  postSse(`${app.url}/v1/agent`, { headers: key.headers, body: turnOf(bytes) })
const statusOf = async (key: TestKey, bytes: number) => {
  const stream = await ask(key, bytes)
  await stream.text()
  return stream.status
}

test('large bodies of one tenant leave room for those of another', async () => {
  const gate = Promise.withResolvers<void>()
  upstream.reply({ text: 'slow', hold: { after: 0, until: gate.promise } })
  const running = await ask(mine, 3.8 * MB)
  // The first to arrive is held.
  await upstream.nextRequest('/chat/completions')
  const refused = await ask(mine, 1 * MB)
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await refused.text()).toBe('服务器繁忙：正在处理的大请求过多，请稍后重试')
  expect(await statusOf(mine, 1_000)).toBe(200)
  expect(await statusOf(others, 0.3 * MB)).toBe(200)
  gate.resolve()
  expect((await running.all()).at(-1)?.data.type).toBe('llm_end')
  expect(await statusOf(mine, 3.8 * MB)).toBe(200)
})

test('large images reach the upstream as they came, in a request of known length', async () => {
  const images = ['A', 'B', 'C'].map((sign) => `data:image/png;base64,${sign.repeat(400_000)}`)
  const body = { text: '看😀', kb: false, session_id: crypto.randomUUID(), images }
  const stream = await postSse(`${app.url}/v1/agent`, { headers: mine.headers, body })
  expect((await stream.all()).at(-1)?.data.type).toBe('llm_end')
  const { headers, body: sent } = upstream.requests.at(-1) ?? {}
  expect(headers?.['transfer-encoding']).toBeUndefined()
  expect(Number(headers?.['content-length'])).toBe(Buffer.byteLength(JSON.stringify(sent)))
  expect(sent?.messages.at(-1)?.content).toEqual([
    { type: 'text', text: body.text },
    ...images.map((url) => ({ type: 'image_url', image_url: { url } })),
  ])
})

test('a body that is refused or broken off gives its memory back', async () => {
  for (let i = 0; i < 3; i++) expect(await statusOf(mine, 4.2 * MB)).toBe(503)
  for (let i = 0; i < 3; i++) {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.on('error', () => {})
    const head = [
      'POST /v1/agent HTTP/1.1',
      'Host: localhost',
      `Authorization: ${mine.headers.authorization}`,
      `Content-Length: ${3.8 * MB}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    socket.write('a'.repeat(3 * MB))
    if (i === 0) await once(socket, 'connect')
    socket.destroy()
  }
  let status = await statusOf(mine, 3.8 * MB)
  // The server hears of a client that left in its own time.
  while (status === 503) status = await statusOf(mine, 3.8 * MB)
  expect(status).toBe(200)
})

test('a body of nothing but brackets is refused before it is parsed as JSON', async () => {
  const { headers } = others
  const body = '['.repeat(1.9 * MB)
  const answer = await fetch(`${app.url}/v1/agent`, { method: 'POST', headers, body })
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('bad request body')
})

test('a body that is parsed off the event loop is checked like any other', async () => {
  const send = async (body: string) => {
    const answer = await fetch(`${app.url}/v1/agent`, {
      method: 'POST',
      headers: others.headers,
      body,
    })
    await answer.text()
    return [answer.status, answer.headers.get('x-error-code')]
  }
  const unknown = `"unknown":"${'\\\\'.repeat(200_000)}"`
  expect(await send(`{"text":"hi","kb":false,${unknown}}`)).toEqual([200, null])
  expect(await send(`{"text":"hi",${unknown}`)).toEqual([400, 'invalid_json'])
  expect(await send(`[{"text":"hi",${unknown}}]`)).toEqual([400, 'invalid_json'])
  expect(await send(`{"text":"",${unknown}}`)).toEqual([400, 'field_empty'])
  const image = `"data:image/png;base64,${'A'.repeat(400_000)}`
  expect(await send(`{"text":"hi","images":[${image}-AAA"]}`)).toEqual([400, 'image_not_base64'])
  expect(await send(`{"text":"hi","images":[${image}\\/AAA"]}`)).toEqual([200, null])
})

test('login routes, which need no credential, refuse a body over 16 KB', async () => {
  for (const path of ['/auth/email/start', '/auth/email/verify', '/auth/native/exchange']) {
    const body = JSON.stringify({ email: 'a@example.com', code: 'a'.repeat(20_000) })
    const answer = await fetch(app.url + path, { method: 'POST', body })
    expect([path, answer.status]).toEqual([path, 413])
  }
})
