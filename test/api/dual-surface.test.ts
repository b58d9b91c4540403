import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Call, SURFACES, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    upstream: upstream.baseUrl,
    env: {
      MB_EMBED_BASE_URL: upstream.baseUrl,
      MB_EMBED_MODEL: 'fake-embed',
      MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    },
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** `#` stands for the id that the last creation gave. */
type Step = readonly [method: string, path: string, body?: unknown]

const CONFIG = {
  format_version: 1,
  personas: [{ name: 'p', prompt: 'p', is_default: true }, { name: '' }],
  sources: [
    ['GET', '/kb/sources'],
    ['POST', '/kb/files', '{'],
    ['POST', '/kb/urls', { url: 'ftp://example.com/' }],
    ['POST', '/kb/urls', { url: 'http://10.0.0.1/', refresh: 'hourly' }],
    ['POST', '/kb/urls', { url: 'http://10.0.0.1/' }],
    ['GET', '/kb/sources/none'],
    ['PUT', '/kb/sources/none', { refresh: 'daily' }],
    ['POST', '/kb/sources/none/refresh'],
    ['DELETE', '/kb/sources/none'],
  ],
  apps: [
    { name: 'one', persona_ref: 'p' },
    { name: 'two', temperature: 9 },
  ],
  settings: { model: 'm', thinking: true, temperature: 1 },
}

/** Each part of the rule with good calls, bad calls and calls to what is not there. */
const SCENARIOS: Readonly<Record<string, readonly Step[]>> = {
  'knowledge base': [
    ['GET', '/kb/docs'],
    ['POST', '/kb/docs', { title: '手册', text: '# 标题\n\n正文一段。' }],
    ['POST', '/kb/docs', { title: '', text: 'x' }],
    ['POST', '/kb/docs', { title: 't'.repeat(201), text: 'x' }],
    ['POST', '/kb/docs', { title: 't', text: 'x'.repeat(102_401) }],
    ['POST', '/kb/docs', '{'],
    ['GET', '/kb/docs'],
    ['GET', '/kb/docs/#/chunks'],
    ['GET', '/kb/docs/none/chunks'],
    ['POST', '/kb/search', { q: '正文' }],
    ['POST', '/kb/search', { q: ' ' }],
    ['DELETE', '/kb/docs/#'],
    ['DELETE', '/kb/docs/#'],
    ['DELETE', '/kb/docs/'],
  ],
  apps: [
    ['POST', '/apps', { name: 'a', tools_enabled: ['calculator'], temperature: 0.5 }],
    ['POST', '/apps', { name: '' }],
    ['POST', '/apps', 'null'],
    ['GET', '/apps'],
    ['GET', '/apps/#'],
    ['PUT', '/apps/#', { name: 'b' }],
    ['PUT', '/apps/#', { name: 'b', temperature: 3 }],
    ['PUT', '/apps/none', { name: 'b' }],
    ['DELETE', '/apps/#'],
    ['DELETE', '/apps/#'],
    ['PATCH', '/apps'],
  ],
  provider: [
    ['GET', '/provider'],
    ['POST', '/provider/test'],
    ['PUT', '/provider', { base_url: 'http://10.0.0.1/v1', api_key: 'k' }],
    ['PUT', '/provider', { base_url: 'https://api.example.com/v1' }],
    ['PUT', '/provider', { base_url: 'https://api.example.com/v1', api_key: 'sk-secret-1234' }],
    ['GET', '/provider'],
    ['DELETE', '/provider'],
    ['GET', '/provider'],
  ],
  devices: [
    ['POST', '/devices', { name: 'd', hw_model: 'h' }],
    ['POST', '/devices', { name: ' ' }],
    ['GET', '/devices'],
    ['GET', '/devices/#'],
    ['PUT', '/devices/#', { name: 'e', app_id: '' }],
    ['POST', '/devices/#/recode'],
    ['GET', '/devices/none'],
    ['DELETE', '/devices/#'],
    ['DELETE', '/devices/#'],
  ],
  logs: [
    ['GET', '/logs'],
    ['GET', '/logs?limit=3&status=4xx&since=2026-01-01'],
    ['GET', '/logs?status=nonsense'],
    ['GET', '/logs?since=nonsense'],
    ['POST', '/logs', {}],
  ],
  'export and import': [
    ['GET', '/export'],
    ['POST', '/import', { config: CONFIG }],
    ['POST', '/import', { config: CONFIG }],
    ['POST', '/import', { config: CONFIG, mode: 'merge' }],
    ['POST', '/import', { config: { ...CONFIG, format_version: 2 } }],
    ['POST', '/import', {}],
    ['GET', '/export'],
  ],
  sessions: [
    ['GET', '/sessions'],
    ['GET', '/sessions/s/history'],
    ['GET', '/sessions//history'],
    ['DELETE', '/sessions/s'],
    ['DELETE', '/sessions/'],
    ['GET', `/sessions/${'s'.repeat(201)}/history`],
  ],
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
const CODE = /"activation_code":"[A-Z2-7]{16}"/

/** What a client sees of each step, but for what differs from call to call. */
async function transcript(call: Call, steps: readonly Step[]) {
  const seen: string[] = []
  let id = 'none'
  for (const [method, path, body] of steps) {
    const answer = await call(method, path.replace('#', id), body)
    if (answer.status === 201) id = answer.json().id as string
    const text = answer.text.replace(ID, 'ID').replace(TIME, 'TIME').replace(CODE, 'CODE')
    const { headers } = answer
    const shown = [headers.get('content-type'), headers.get('allow'), text]
    seen.push(`${method} ${path} → ${answer.status} ${shown.join(' ')}`)
  }
  return seen
}

test.each(Object.entries(SCENARIOS))('%s: both surfaces answer alike', async (name, steps) => {
  const [machine, console] = await Promise.all(
    SURFACES.map(async (surface) => {
      const call = await surfaceOf(
        app,
        surface,
        `${name.replaceAll(' ', '')}${surface}@example.com`,
      )
      return transcript(call, steps)
    }),
  )
  expect(machine).toHaveLength(steps.length)
  expect(console as string[]).toEqual(machine as string[])
})
