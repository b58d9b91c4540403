import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { type PageServer, startPageServer } from '../support/page-server.ts'
import { oneAxisEmbedder, sourcesClient } from '../support/sources.ts'

const { embedder } = oneAxisEmbedder()
const HTML = '<!doctype html><p>请假须提前三天。</p>'
const TEXT = { 'content-type': 'text/plain' }

/** Its timers fire when it is moved, so that a page may take fifteen seconds at once. */
const clock = fakeClock({ timers: 'moved' })
let app: TestApp
let key: TestKey
let page: PageServer
/** A server of the inner network, which nobody may reach. */
let inner: PageServer
let tenants = 0
beforeAll(async () => {
  inner = startPageServer()
  inner.html('<p>机密</p>')
})
beforeEach(async () => {
  page = startPageServer()
  app = await startApp({ embedder, clock, env: { MB_ALLOW_PRIVATE_HOSTS: page.host } })
  key = await app.key(`t${++tenants}@example.com`)
})
afterEach(async () => {
  await app[Symbol.asyncDispose]()
  page[Symbol.dispose]()
})
afterAll(() => inner[Symbol.dispose]())

const { call, get, idle, search } = sourcesClient(() => app)

async function add() {
  const { body } = await call(key, 'POST', '/urls', { url: page.url })
  await idle()
  return get(key, body.id)
}

async function check(id: string) {
  clock.advance(60_000)
  await call(key, 'POST', `/sources/${id}/refresh`)
  await idle()
  return get(key, id)
}

const location = (to: string) => new Response(null, { status: 302, headers: { location: to } })
const pieces = (count: number) =>
  new ReadableStream({
    pull(controller) {
      if (count-- > 0) controller.enqueue(Buffer.alloc(1024 * 1024, 'a'))
      else controller.close()
    },
  })
const packed = (bytes: number) => ({
  body: Bun.gzipSync(Buffer.alloc(bytes, 'a')),
  headers: { ...TEXT, 'content-encoding': 'gzip' },
})
const bomb = packed(80 * 1024 * 1024)

const rows: [string, string, () => Response][] = [
  ['answers 500', 'http_status', () => new Response('', { status: 500 })],
  ['answers 304 unasked', 'http_status', () => new Response(null, { status: 304 })],
  ['redirects to 127.0.0.1', 'address_refused', () => location(inner.url)],
  ['redirects to localhost', 'address_refused', () => location('http://localhost/')],
  ['redirects to a file', 'address_refused', () => location('file:///etc/passwd')],
  ['redirects nowhere', 'http_status', () => new Response(null, { status: 302 })],
  ['is 11 MB', 'too_large', () => new Response(pieces(11), { headers: TEXT })],
  ['unpacks to 80 MB', 'too_large', () => new Response(bomb.body, bomb)],
  [
    'is packed in an unknown way',
    'unsupported',
    () => new Response('x', { headers: { ...TEXT, 'content-encoding': 'br' } }),
  ],
  [
    'is a picture',
    'unsupported',
    () => new Response('x', { headers: { 'content-type': 'image/png' } }),
  ],
  [
    'is a picture that calls itself a page',
    'unsupported',
    () => new Response('\x89PNG\r\n\x1a\n\0\0', { headers: { 'content-type': 'text/html' } }),
  ],
  ['has no text', 'no_text', () => new Response(' \n ', { headers: TEXT })],
  ['is empty', 'no_text', () => new Response('', { headers: TEXT })],
]

describe('a page that fails', () => {
  test.each(rows)('a page that %s has failed as %s', async (_name, errorClass, answer) => {
    page.serve(answer)
    const source = await add()
    expect(source).toMatchObject({ state: 'failed', error_class: errorClass, doc_ids: [] })
    expect(source.error).toMatch(/^[^\n<>]{4,40}$/)
    expect(source.checked_at).toBe(clock.iso())
    expect(inner.requests).toEqual([])
    expect(readdirSync(join(app.dataDir, 'spool'))).toEqual([])
  })

  test('a check that fails leaves the text of the page as it was', async () => {
    page.html(HTML)
    const first = await add()
    for (const [name, errorClass, answer] of rows) {
      if (name === 'answers 304 unasked') continue
      page.serve(answer)
      expect(await check(first.id)).toMatchObject({
        ...{ state: 'ready', error_class: errorClass, doc_ids: first.doc_ids },
        ...{ checked_at: clock.iso(), changed_at: first.changed_at },
      })
    }
    expect((await search(key, '请假'))[0].text).toContain('三天')
    page.html(HTML)
    expect(await check(first.id)).toEqual({ ...first, checked_at: clock.iso() })
  })

  test('a page that cannot be reached is unreachable', async () => {
    page[Symbol.dispose]()
    expect(await add()).toMatchObject({ state: 'failed', error_class: 'unreachable' })
  })

  test.each([
    ['never answers', () => new Promise<Response>(() => {})],
    [
      'never ends',
      async () =>
        new Response(new ReadableStream({ pull: () => new Promise(() => {}) }), { headers: TEXT }),
    ],
  ])('a page that %s is given up after 15 seconds', async (_name, answer) => {
    page.serve(answer)
    const asked = page.asked()
    const { body } = await call(key, 'POST', '/urls', { url: page.url })
    await asked
    clock.advance(14_999)
    expect((await get(key, body.id)).state).toBe('reading')
    clock.advance(1)
    await idle()
    expect(await get(key, body.id)).toMatchObject({ state: 'failed', error_class: 'unreachable' })
  })
})
