import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { expectRefusal } from '../support/kb.ts'
import { startPageServer } from '../support/page-server.ts'
import { longText, oneAxisEmbedder, sourcesClient } from '../support/sources.ts'

const { embedder, hold, reached } = oneAxisEmbedder()
let app: TestApp
let tenants = 0
beforeAll(async () => {
  app = await startApp({ embedder, env: { MB_KB_MAX_DOCS: '6', MB_KB_MAX_DOC_KB: '2' } })
})
afterAll(() => app[Symbol.asyncDispose]())

const freshKey = () => app.key(`t${++tenants}@example.com`)
const { call, upload, ingest, get, idle, docs, search } = sourcesClient(() => app)
const spooled = () => readdirSync(join(app.dataDir, 'spool'))

/** Looks again, after other events, until what is there is as expected. */
async function until<Seen>(look: () => Seen, isSo: (seen: Seen) => boolean): Promise<Seen> {
  for (;;) {
    const seen = look()
    if (isSo(seen)) return seen
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Documents that nobody sees: still to be shown, or to be removed. */
const notLive = () => app.db.all({ sql: "SELECT id FROM kb_doc WHERE stage <> 'live'", args: [] })

describe('failures', () => {
  test('nothing of a file is stored when not all of its parts have room', async () => {
    const key = await freshKey()
    await ingest(key, longText(3), { title: '先来' })
    const source = await ingest(key, longText(4), { title: '后到' })
    expect(source).toMatchObject({
      state: 'failed',
      error_class: 'quota',
      error: '需要 4 份，还可新增 3 份',
      ...{ doc_ids: [], parts: 0, char_count: 0 },
    })
    expect(await docs(key)).toHaveLength(3)
    expect((await ingest(key, longText(3), { title: '刚好' })).state).toBe('ready')
    expectRefusal(await call(key, 'POST', '/docs', { title: '多', text: '字' }), 403)
  })

  test('a document that takes the last place meanwhile fails the whole file', async () => {
    const key = await freshKey()
    const release = hold('慢6')
    const { body } = await upload(key, longText(6, '慢'))
    await reached()
    expect(await docs(key)).toEqual([])
    expect((await call(key, 'POST', '/docs', { title: '一篇', text: '字' })).status).toBe(201)
    release()
    await idle()
    const { error } = await get(key, body.id)
    expect(error).toBe('需要 6 份，还可新增 5 份')
    expect(await docs(key)).toHaveLength(1)
    expect(await search(key, '规定')).toHaveLength(1)
  })

  test('a text of white space alone is no text', async () => {
    const source = await ingest(await freshKey(), ' \n\t\n ')
    expect(source).toMatchObject({
      state: 'failed',
      error_class: 'no_text',
      error: '未读出文字，可能是扫描件',
    })
  })

  test('the 51st waiting source is refused, also among uploads that come together', async () => {
    const key = await freshKey()
    const release = hold('等')
    const answers = await Promise.all(
      Array.from({ length: 53 }, (_, i) => upload(key, `等${i}`, { name: `${i}.txt` })),
    )
    const refused = answers.filter(({ status }) => status !== 202)
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429])
    expectRefusal(refused[0] as never, 429)
    expect(refused[0]?.headers.get('retry-after')).toBe('10')
    expect((await call(key, 'POST', '/urls', { url: 'https://example.com/' })).status).toBe(429)
    expect((await upload(await freshKey(), '别人的')).status).toBe(202)
    release()
    await idle()
    const { sources } = (await call(key, 'GET', '/sources')).body
    const states = sources.map(({ state }: Source) => state)
    expect(states.filter((state: string) => state === 'ready')).toHaveLength(6)
    expect(states.filter((state: string) => state === 'failed')).toHaveLength(44)
    expect(spooled()).toEqual([])
  })
})

test('a tenant whose files take long holds up no other', async () => {
  const key = await freshKey()
  const release = hold('占')
  for (let i = 0; i < 10; i++) await upload(key, `占${i}`, { name: `${i}.txt` })
  const other = await freshKey()
  const { body } = await upload(other, '别人的文字')
  let state = 'queued'
  while (state !== 'ready') ({ state } = await get(other, body.id))
  const { sources } = (await call(key, 'GET', '/sources')).body
  expect(sources.map(({ state }: Source) => state)).not.toContain('ready')
  release()
  await idle()
})

describe('deletion', () => {
  test('a source takes its documents with it, and a document leaves the others', async () => {
    const key = await freshKey()
    const source = await ingest(key, longText(3))
    const [first = '', ...rest] = source.doc_ids
    await call(key, 'DELETE', `/docs/${first}`)
    expect(await get(key, source.id)).toMatchObject({ state: 'ready', doc_ids: rest })
    const gone = await call(key, 'DELETE', `/sources/${source.id}`)
    expect([gone.status, gone.body]).toEqual([200, { id: source.id, deleted: true }])
    expect(await docs(key)).toEqual([])
    expect(await search(key, '规定')).toEqual([])
    expectRefusal(await call(key, 'GET', `/sources/${source.id}`), 404)
    await idle()
    expect(await notLive()).toEqual([])
  })

  test('a source goes with the last of its documents', async () => {
    const key = await freshKey()
    const { id, doc_ids } = await ingest(key, longText(2))
    for (const doc of doc_ids) await call(key, 'DELETE', `/docs/${doc}`)
    expectRefusal(await call(key, 'GET', `/sources/${id}`), 404)
  })

  test('the deletion of a source ends the work on it', async () => {
    const key = await freshKey()
    const release = hold('删2')
    const { body } = await upload(key, longText(2, '删'))
    await reached()
    expect((await call(key, 'DELETE', `/sources/${body.id}`)).status).toBe(200)
    release()
    await idle()
    expect(await docs(key)).toEqual([])
    expect(
      await app.db.all({ sql: `SELECT 1 FROM kb_doc WHERE stage <> 'live'`, args: [] }),
    ).toEqual([])
    expect(spooled()).toEqual([])
  })
})

describe('an embedder that fails', () => {
  const rows = (state: string) => ({ state, doc_ids: [] })

  test('a source is tried again after 10 s, 1 min and 5 min, and holds up no other', async () => {
    const clock = fakeClock()
    await using app = await startApp({ embedder, clock })
    const client = sourcesClient(() => app)
    const key = await app.key()
    const bad = await client.ingest(key, '【坏】文字', { name: 'bad.txt' })
    const retry_at = new Date(clock.now() + 10_000).toISOString()
    expect(bad).toMatchObject({ ...rows('embedding'), retry_at })
    expect((await client.ingest(key, '好的文字')).state).toBe('ready')
    const tick = async () => {
      await app.startSources()
      await client.idle()
      return (await client.get(key, bad.id)).state
    }
    for (const [before, wait] of [
      [9_000, 1_000],
      [59_000, 1_000],
      [299_000, 1_000],
    ] as const) {
      clock.advance(before)
      const attempts = app.log().split('source not read').length
      expect(await tick()).toBe('embedding')
      expect(app.log().split('source not read').length).toBe(attempts)
      clock.advance(wait)
      await tick()
      expect(app.log().split('source not read').length).toBe(attempts + 1)
    }
    expect(await client.get(key, bad.id)).toMatchObject({
      ...rows('failed'),
      ...{ error_class: 'upstream', retry_at: null },
      error: '知识库向量服务暂不可用，请稍后重试',
    })
  })
})

test('an upload lies in the data folder for this user alone', async () => {
  const key = await freshKey()
  const release = hold('私')
  const { body } = await upload(key, '私人的文字')
  const folder = join(app.dataDir, 'spool')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, body.id)).mode & 0o777).toBe(0o600)
  release()
  await idle()
})

test('an upload whose client leaves is given up', async () => {
  const key = await freshKey()
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  const head = [
    'POST /v1/kb/files HTTP/1.1',
    'Host: localhost',
    `Authorization: ${key.headers.authorization}`,
    'Content-Type: multipart/form-data; boundary=xx',
    'Content-Length: 100000',
  ]
  const part = '--xx\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
  socket.write(`${head.join('\r\n')}\r\n\r\n${part}${'文'.repeat(1000)}`)
  const [id = ''] = await until(spooled, (names) => names.length === 1)
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  socket.destroy()
  await until(spooled, (names) => names.length === 0)
  expect((await call(key, 'GET', '/sources')).body).toEqual({ sources: [] })
})

test('pages that wait for their host hold up no page of another', async () => {
  const sleeping = Promise.withResolvers<void>()
  const own = fakeClock()
  await using app = await startApp({
    embedder,
    clock: { ...own, sleep: () => sleeping.promise },
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
  using page = startPageServer()
  using other = startPageServer()
  for (const one of [page, other]) one.html('<p>页面的文字</p>')
  const { call, get, idle } = sourcesClient(() => app)
  const key = await app.key()
  for (const end of ['', '1', '2', '3']) {
    await call(key, 'POST', '/urls', { url: `${page.url}${end}` })
  }
  const { body } = await call(key, 'POST', '/urls', { url: other.url })
  while ((await get(key, body.id)).state !== 'ready') {}
  own.advance(60_000)
  sleeping.resolve()
  await idle()
  expect(page.requests).toHaveLength(4)
})
