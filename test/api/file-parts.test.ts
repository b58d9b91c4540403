import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { filesClient } from '../support/chat-files.ts'
import { patientClock } from '../support/clock.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let tenants = 0
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock: patientClock() })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const { upload, ingest, call } = filesClient(() => app.url)
const freshKey = () => app.key(`parts${++tenants}@example.com`)
const system = () => {
  const { body } = upstream.requests.findLast(({ path }) => path === '/chat/completions') ?? {}
  return (body as unknown as { messages: { content: string }[] }).messages[0]?.content ?? ''
}

describe("in OpenAI's APIs", () => {
  const dataUrl = (text: string) => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`
  const part = (text: string, filename = 'w.txt') => ({ file_data: dataUrl(text), filename })
  const completion = (...content: object[]) => ({ messages: [{ role: 'user', content }] })

  test('a part with data is an upload, once for the same data', async () => {
    const { headers } = await freshKey()
    const v1 = caller(`${app.url}/v1`, headers)
    const text = { type: 'text', text: 'What colour?' }
    const body = completion({ type: 'file', file: part('The walrus is grey.') }, text)
    for (let i = 0; i < 2; i++) {
      const answer = await v1<{ moonbase: { file_refs: object[] } }>(
        'POST',
        '/chat/completions',
        body,
      )
      expect(answer.status).toBe(200)
      expect(answer.json().moonbase.file_refs).toMatchObject([{ name: 'w.txt', score: null }])
      expect(system()).toContain('The walrus is grey.')
    }
    const { files } = (await call(headers, 'GET', '')).body
    expect(files).toHaveLength(1)
    const input = [
      {
        role: 'user',
        content: [
          { type: 'input_file', file_id: files[0].id },
          { type: 'input_text', text: 'x' },
        ],
      },
    ]
    const answer = await v1<{ moonbase: { file_refs: object[] } }>('POST', '/responses', { input })
    expect(answer.json().moonbase.file_refs).toHaveLength(1)
    const named = await v1('POST', '/chat/completions', {
      ...completion(text),
      files: [files[0].id],
    })
    expect(named.status).toBe(200)
    expect(system()).toContain('The walrus is grey.')
  })

  test.each([
    ['no data URL', { file_data: 'hello', filename: 'a.txt' }, 400],
    ['bad base64', { file_data: 'data:text/plain;base64,a*b', filename: 'a.txt' }, 400],
    ['nothing', { file_data: 'data:text/plain;base64,', filename: 'a.txt' }, 400],
    [
      'an unknown kind',
      { file_data: 'data:image/png;base64,iVBORw0KGgoAAAANAAEC', filename: 'a' },
      400,
    ],
    ['an address', { file_url: 'https://example.com/a.pdf' }, 400],
    ['an unknown id', { file_id: 'file-1' }, 404],
  ])('a part with %s is refused', async (_name, file, status) => {
    const { headers } = await freshKey()
    const v1 = caller(`${app.url}/v1`, headers)
    const body = completion({ type: 'file', file }, { type: 'text', text: 'x' })
    const answer = await v1<{ error: { param: string | null } }>('POST', '/chat/completions', body)
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.json().error.param).toStartWith('messages[0].content[0].file')
    expect(upstream.requests).toEqual([])
  })

  test('a model that fails is told by the status, also where a session has files', async () => {
    const { headers } = await freshKey()
    const v1 = caller(`${app.url}/v1`, { ...headers, 'x-moonbase-session': 'walrus' })
    const { id } = await ingest(headers, 'The walrus is grey.')
    const first = { text: 'What colour?', files: [id], session_id: 'walrus' }
    expect((await v1('POST', '/agent', first)).status).toBe(200)
    upstream.fault(400)
    const messages = [{ role: 'user', content: 'What colour is the walrus?' }]
    const body = { model: 'moonbase', max_tokens: 10, stream: true, messages }
    const answer = await v1<{ error: { type: string } }>('POST', '/messages', body)
    expect([answer.status, answer.json().error.type]).toEqual([502, 'api_error'])
  })

  test('a device has no files', async () => {
    const mail = `turns${++tenants}@example.com`
    const general = await app.key(mail)
    const { headers } = await app.key(mail, { deviceId: 'd' })
    const device = caller(`${app.url}/v1`, headers)
    const file = await ingest(general.headers, 'x')
    expect((await device('POST', '/agent', { text: 'x', files: [file.id] })).status).toBe(403)
    expect((await device('POST', '/agent', { text: 'x', files: [] })).status).toBe(200)
    expect((await upload(headers, 'x')).status).toBe(403)
  })
})
