import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { DAY_MS } from '../../src/core/clock.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { expectRefusal } from '../support/kb.ts'
import { type PageServer, startPageServer } from '../support/page-server.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { oneAxisEmbedder, sourcesClient } from '../support/sources.ts'

const axis = oneAxisEmbedder()
/** No host is asked twice at one moment of this clock, so that nothing waits for its turn. */
const clock = fakeClock()
let app: TestApp
let key: TestKey
let page: PageServer
let tenants = 0
beforeAll(async () => {
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  app = await startApp({ embedder: axis.embedder, clock, env })
})
beforeEach(async () => {
  key = await app.key(`t${++tenants}@example.com`)
  page = startPageServer()
})
afterEach(() => page[Symbol.dispose]())
afterAll(() => app[Symbol.asyncDispose]())

const { call, get, idle, docs, search } = sourcesClient(() => app)

/** Adds a page and returns its source once it was fetched. */
async function add(body: object = {}) {
  const {
    status,
    text,
    body: source,
  } = await call(key, 'POST', '/urls', { url: page.url, ...body })
  if (status !== 202) throw new Error(`${status} ${text}`)
  await idle()
  return get(key, source.id)
}

/** Checks the page by hand, a minute later. */
async function check(id: string) {
  clock.advance(60_000)
  expect((await call(key, 'POST', `/sources/${id}/refresh`)).status).toBe(202)
  await idle()
  return get(key, id)
}

const HTML = '<!doctype html><title> 公司\n制度 </title><h1>假期</h1><p>请假须提前三天。</p>'

describe('a page', () => {
  test('a page is queued at once, and found with its title and address', async () => {
    page.html(HTML)
    const { status, body } = await call(key, 'POST', '/urls', { url: page.url })
    expect([status, body]).toMatchObject([
      202,
      {
        ...{ kind: 'url', title: page.host, url: page.url, refresh: 'off', state: 'queued' },
        ...{ doc_ids: [], parts: 0, checked_at: null, changed_at: null },
      },
    ])
    await idle()
    const source = await get(key, body.id)
    expect(source).toMatchObject({
      ...{ title: '公司 制度', media_type: 'text/html', bytes: Buffer.byteLength(HTML) },
      ...{ state: 'ready', parts: 1, checked_at: clock.iso(), changed_at: clock.iso() },
    })
    const [hit] = await search(key, '请假')
    expect(hit).toMatchObject({ title: '公司 制度', url: page.url, heading: '假期', page: null })
    const { chunks } = (await call(key, 'GET', `/docs/${source.doc_ids[0]}/chunks`)).body
    expect(chunks[0]).toMatchObject({ url: page.url, heading: '假期' })
    expect(page.lastHeader('accept-encoding')).toBe('identity')
  })

  test.each([
    ['text/plain', '纯文本'],
    ['text/markdown; charset=utf-8', '# 标题\n\n正文'],
    ['TEXT/HTML', '<p>片段</p>'],
  ])('a page of type %s is read and named by its host', async (type, text) => {
    page.serve(() => new Response(text, { headers: { 'content-type': type } }))
    expect(await add()).toMatchObject({ state: 'ready', title: page.host })
  })

  test('a PDF is read with its pages', async () => {
    const bytes = pdfFile([{ lines: ['First page.'] }, { lines: ['Second page.'] }])
    page.serve(
      () => new Response(Buffer.from(bytes), { headers: { 'content-type': 'application/pdf' } }),
    )
    const source = await add()
    expect(source).toMatchObject({ state: 'ready', pages: 2, title: page.host })
    const { chunks } = (await call(key, 'GET', `/docs/${source.doc_ids[0]}/chunks`)).body
    expect(chunks.map((one: { page: number; url: string }) => [one.page, one.url])).toEqual([
      [1, page.url],
      [2, page.url],
    ])
  })

  test('a given title stays, whatever the page is called', async () => {
    page.html(HTML)
    expect((await add({ title: ' 我的 ' })).title).toBe('我的')
  })

  test('up to five redirects are followed', async () => {
    page.serve(({ url }) => {
      const hops = Number(new URL(url).searchParams.get('n'))
      if (hops === 5) return new Response('到了', { headers: { 'content-type': 'text/plain' } })
      return new Response(null, { status: 302, headers: { location: `?n=${hops + 1}` } })
    })
    await using app = await startApp({
      embedder: axis.embedder,
      clock: { ...clock, sleep: async () => {} },
      env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
    })
    const { call, get, idle } = sourcesClient(() => app)
    const key = await app.key()
    const fetched = async (url: string) => {
      const { body } = await call(key, 'POST', '/urls', { url })
      await idle()
      return get(key, body.id)
    }
    expect(await fetched(`${page.url}?n=0`)).toMatchObject({ state: 'ready' })
    expect(await fetched(`${page.url}?n=-1`)).toMatchObject({ error_class: 'http_status' })
  })

  test('one host and port is asked for a page a second', async () => {
    const slept: number[] = []
    const own = fakeClock()
    async function sleep(ms: number) {
      slept.push(ms)
      own.advance(ms)
    }
    await using app = await startApp({
      embedder: axis.embedder,
      clock: { ...own, sleep },
      env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
    })
    using other = startPageServer()
    for (const one of [page, other]) one.html(HTML)
    const { call, idle } = sourcesClient(() => app)
    const key = await app.key()
    for (const url of [page.url, `${page.url}2`, other.url, `${page.url}3`]) {
      await call(key, 'POST', '/urls', { url })
      await idle()
    }
    expect(slept).toEqual([1000, 1000])
  })
})

describe('refusals', () => {
  test.each([
    ['no address', {}],
    ['a relative address', { url: '/page' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['a user name', { url: 'http://me@example.com/' }],
    ['an internal address', { url: 'http://10.0.0.1/' }],
    ['an address that is too long', { url: `http://example.com/${'a'.repeat(2000)}` }],
    ['another rhythm', { url: 'https://example.com/', refresh: 'hourly' }],
    ['a title of 181 characters', { url: 'https://example.com/', title: '题'.repeat(181) }],
  ])('a page with %s is refused', async (_name, body) => {
    const { status, text } = await call(key, 'POST', '/urls', body)
    expect([status, text]).toEqual([400, expect.stringMatching(/^[^\n<>]{2,80}$/)])
    expect((await call(key, 'GET', '/sources')).body).toEqual({ sources: [] })
  })

  test('at most 20 pages of a tenant are refreshed', async () => {
    page.html(HTML)
    const ids: string[] = []
    for (let i = 0; i < 20; i++) {
      const { body } = await call(key, 'POST', '/urls', { url: page.url, refresh: 'weekly' })
      ids.push(body.id)
    }
    const more = { url: page.url, refresh: 'daily' }
    expectRefusal(await call(key, 'POST', '/urls', more), 403)
    const { body: off } = await call(key, 'POST', '/urls', { url: page.url })
    expectRefusal(await call(key, 'PUT', `/sources/${off.id}`, { refresh: 'daily' }), 403)
    expect((await call(key, 'PUT', `/sources/${ids[0]}`, { refresh: 'daily' })).status).toBe(200)
    await call(key, 'PUT', `/sources/${ids[0]}`, { refresh: 'off' })
    const set = await call(key, 'PUT', `/sources/${off.id}`, { refresh: 'daily' })
    expect([set.status, set.body.refresh]).toEqual([200, 'daily'])
    for (const id of [...ids, off.id]) await call(key, 'DELETE', `/sources/${id}`)
  })
})

describe('a page that changes', () => {
  test('a changed page replaces its documents, an unchanged one is not embedded', async () => {
    page.html(HTML)
    const first = await add()
    const before = axis.calls()
    const same = await check(first.id)
    expect(same).toEqual({ ...first, checked_at: clock.iso() })
    expect(axis.calls()).toBe(before)
    page.html(HTML.replace('三天', '五天').replace('公司', '集团'))
    const changed = await check(first.id)
    expect(changed).toMatchObject({ title: '集团 制度', state: 'ready', changed_at: clock.iso() })
    expect(changed.doc_ids).not.toEqual(first.doc_ids)
    const hits = await search(key, '请假')
    expect(hits.map(({ text }: { text: string }) => text)).toEqual([
      expect.stringContaining('五天'),
    ])
    expect(await docs(key)).toHaveLength(1)
  })

  test('the version that the page named is sent back, and 304 is enough', async () => {
    const version = { etag: '"v1"', 'last-modified': 'Sun, 01 Nov 2026 00:00:00 GMT' }
    page.html(HTML, version)
    const first = await add()
    expect(page.lastHeader('if-none-match')).toBe(null)
    page.status(304)
    expect(await check(first.id)).toEqual({ ...first, checked_at: clock.iso() })
    expect(page.lastHeader('if-none-match')).toBe('"v1"')
    expect(page.lastHeader('if-modified-since')).toBe(version['last-modified'])
  })

  test('the old text is found until the new one is stored', async () => {
    page.html(HTML)
    const { id, doc_ids } = await add()
    page.html(HTML.replace('三天', '五天'))
    const release = axis.hold('五天')
    clock.advance(60_000)
    const asked = page.asked()
    await call(key, 'POST', `/sources/${id}/refresh`)
    await asked
    await axis.reached()
    expect(await get(key, id)).toMatchObject({ state: 'ready', doc_ids })
    expect((await search(key, '请假'))[0].text).toContain('三天')
    release()
    await idle()
    expect((await search(key, '请假'))[0].text).toContain('五天')
  })

  test('a page is checked by its schedule, and not without one', async () => {
    page.html(HTML)
    const { id } = await add({ refresh: 'daily' })
    const pass = async (ms: number) => {
      clock.advance(ms)
      const before = page.requests.length
      await app.startSources()
      await idle()
      return page.requests.length - before
    }
    expect(await pass(DAY_MS - 1)).toBe(0)
    expect(await pass(1)).toBe(1)
    expect(await pass(DAY_MS)).toBe(1)
    await call(key, 'PUT', `/sources/${id}`, { refresh: 'weekly' })
    expect(await pass(6 * DAY_MS)).toBe(0)
    expect(await pass(DAY_MS)).toBe(1)
    await call(key, 'PUT', `/sources/${id}`, { refresh: 'off' })
    expect(await pass(30 * DAY_MS)).toBe(0)
  })
})

describe('a page that is gone', () => {
  test('a page counts as gone after three checks in a row, and its text stays', async () => {
    page.html(HTML)
    const { id, doc_ids } = await add()
    page.status(404)
    expect(await check(id)).toMatchObject({ state: 'ready', error_class: 'http_status' })
    page.status(410)
    expect(await check(id)).toMatchObject({ state: 'ready', error: '网页返回了 HTTP 410' })
    page.html(HTML)
    expect(await check(id)).toMatchObject({ state: 'ready', error_class: null, error: null })
    for (const status of [404, 404, 500, 404, 410]) {
      page.status(status)
      expect((await check(id)).state).toBe('ready')
    }
    expect(await check(id)).toMatchObject({ state: 'gone', doc_ids, checked_at: clock.iso() })
    expect((await search(key, '请假'))[0].text).toContain('三天')
    expect((await check(id)).state).toBe('gone')
    page.html(HTML)
    expect(await check(id)).toMatchObject({ state: 'ready', error_class: null, doc_ids })
  })

  test('a page that was never there has failed, and may be tried again', async () => {
    page.status(404)
    const { id, ...failed } = await add()
    expect(failed).toMatchObject({ state: 'failed', error_class: 'http_status', doc_ids: [] })
    page.html(HTML)
    clock.advance(60_000)
    expect((await call(key, 'POST', `/sources/${id}/refresh`)).body.state).toBe('queued')
    await idle()
    expect(await get(key, id)).toMatchObject({ state: 'ready', error_class: null })
  })
})
