import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { settingsBy } from '../support/system.ts'

const clock = fakeClock()
let app: TestApp
let operator: Call
let tenant: Call
beforeAll(async () => {
  app = await startApp({ clock })
  operator = caller(`${app.url}/console`, (await app.operator()).headers)
  tenant = caller(app.url, (await app.key('ada@example.com')).headers)
})
afterAll(() => app[Symbol.asyncDispose]())

const put = (body: object) => operator('PUT', '/system', body)
const add = (text: string) => tenant('POST', '/v1/kb/docs', { title: 'T', text })

test('limits of documents hold at once for new work, as texts, numbers and booleans', async () => {
  expect((await settingsBy(operator)).MB_LOG_DAYS).toMatchObject({ value: '90', source: 'default' })
  expect(
    (await put({ MB_KB_MAX_DOCS: 1, MB_KB_MAX_DOC_KB: '1', MB_TRANSCRIPT: false })).status,
  ).toBe(200)
  expect((await settingsBy(operator)).MB_TRANSCRIPT?.value).toBe('false')
  const limits = await tenant('GET', '/v1/kb/limits')
  expect(limits.json()).toMatchObject({ docs_max: 1, doc_kb_max: 1 })
  expect((await add('x'.repeat(1025))).status).not.toBe(200)
  const first = await add('one')
  expect(first.status).toBeLessThan(300)
  expect((await add('two')).headers.get('x-error-code')).toBe('quota_docs')
  await put({ MB_KB_MAX_DOCS: null, MB_KB_MAX_DOC_KB: null, MB_TRANSCRIPT: null })
  expect((await add('x'.repeat(1025))).status).toBeLessThan(300)
  for (const wrong of [{ MB_LOG_DAYS: 0 }, { MB_LOG_DAYS: 3651 }, { MB_MAX_STREAMS: [] }]) {
    expect((await put(wrong)).status).toBe(400)
  }
})

test('the audit is kept for MB_LOG_DAYS', async () => {
  await put({ MB_LOG_DAYS: 2 })
  const lines = async () => {
    const headers = (await app.person('operator@example.com')).headers
    const call = caller(`${app.url}/console`, headers)
    return (await call<{ entries: object[] }>('GET', '/audit')).json().entries.length
  }
  expect(await lines()).toBeGreaterThan(0)
  clock.advance(86_400_000)
  await app.prune()
  expect(await lines()).toBeGreaterThan(0)
  clock.advance(86_400_000 + 3_600_000)
  await app.prune()
  expect(await lines()).toBe(0)
})
