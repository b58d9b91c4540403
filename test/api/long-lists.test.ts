import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Call, caller, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'

interface Persona {
  readonly id: string
  readonly name: string
  readonly prompt: string
}

let app: TestApp
let call: Call
beforeAll(async () => {
  app = await startApp({ requestBytesMax: 4_000_000 })
  call = caller(`${app.url}/console`, (await app.person()).headers)
  // Texts that JSON escapes, and that span several pieces of an answer.
  for (let n = 0; n < 30; n++) {
    const prompt = `${n} "\\\n界`.repeat(1_000)
    expect((await call('POST', '/personas', { name: `p${n}`, prompt })).status).toBe(201)
  }
})
afterAll(() => app[Symbol.asyncDispose]())

test('a list that is sent in pieces is complete, with the usual headers', async () => {
  const answer = await call<{ personas: Persona[] }>('GET', '/personas')
  const { personas } = answer.json()
  expect(personas.map(({ name }) => name)).toEqual(
    Array.from({ length: 30 }, (_, n) => `p${29 - n}`),
  )
  for (const [at, { prompt }] of personas.entries()) {
    expect(prompt).toBe(`${29 - at} "\\\n界`.repeat(1_000).trim())
  }
  expect(answer.headers.get('content-type')).toStartWith('application/json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('x-request-id')).toBeTruthy()
})

test('an export that is sent in pieces can be imported by another tenant', async () => {
  const config = (await call('GET', '/export?download=1')).json()
  const other = caller(`${app.url}/console`, (await app.person('other@example.com')).headers)
  const imported = await other<{ imported: object }>('POST', '/import', { config })
  expect(imported.json().imported).toEqual({
    personas: 30,
    apps: 0,
    mcp_servers: 0,
    prompts: 0,
    collections: 0,
    schedules: 0,
    webhooks: 0,
    settings: true,
  })
  const again = (await other<Record<string, unknown>>('GET', '/export')).json()
  expect({ ...again, exported_at: null }).toEqual({ ...config, exported_at: null })
})

test('lists of long texts count in the memory for requests, and are sent in pieces', async () => {
  await using small = await startApp({ requestBytesMax: 300_000 })
  const surface = await surfaceOf(small, '/v1', 'long@example.com')
  const text = 'x'.repeat(8_000)
  const bodies: Record<string, (n: number) => object> = {
    '/prompts': (n) => ({ name: `p${n}`, title: 'long', text }),
    '/schedules': (n) => ({ name: `s${n}`, text, cron: '0 5 * * *' }),
    '/triggers': (n) => ({ name: `t${n}`, text }),
  }
  for (const [path, bodyOf] of Object.entries(bodies)) {
    for (let n = 0; n < 20; n++) expect((await surface('POST', path, bodyOf(n))).status).toBe(201)
    expect((await surface('GET', `${path}?limit=5`)).status).toBe(200)
    const refused = await surface('GET', path)
    expect([path, refused.headers.get('x-error-code')]).toEqual([path, 'memory_full'])
  }
})

test('lists beyond the memory for requests are refused, and shorter ones are not', async () => {
  const { headers } = await app.person('keys@example.com')
  const many = caller(`${app.url}/console`, headers)
  expect((await many('GET', '/keys')).status).toBe(200)
  for (let n = 0; n < 4_500; n += 50) {
    const made = await Promise.all(Array.from({ length: 50 }, () => many('POST', '/keys', {})))
    if (made.some(({ status }) => status !== 201)) throw new Error(`keys from ${n}`)
  }
  const refused = await many('GET', '/keys')
  expect(refused.status).toBe(503)
  expect(refused.headers.get('x-error-code')).toBe('memory_full')
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await call('GET', '/keys')).status).toBe(200)
})
