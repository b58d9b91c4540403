import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { caller, SURFACES } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { carrier, type Export, file, twoParts, typed } from '../support/carried.ts'
import { fakeClock } from '../support/clock.ts'
import { type PageServer, startPageServer } from '../support/page-server.ts'
import { longText, oneAxisEmbedder, sourcesClient } from '../support/sources.ts'

const axis = oneAxisEmbedder()
/** No host is asked twice at one moment of this clock, so that nothing waits for its turn. */
const clock = fakeClock()
let app: TestApp
let page: PageServer
let tenants = 0
beforeAll(async () => {
  page = startPageServer()
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', MB_KB_MAX_DOCS: '8', MB_KB_MAX_DOC_KB: '2' }
  app = await startApp({ embedder: axis.embedder, clock, env })
})
afterEach(() => app.jobs.idle())
afterAll(async () => {
  page[Symbol.dispose]()
  await app[Symbol.asyncDispose]()
})

const { call, docs, idle, ingest, search } = sourcesClient(() => app)
const { exported, load } = carrier(() => app)
const freshKey = () => app.key(`carry${++tenants}@example.com`)

/** Without what is chosen anew: the ids of sources, and the times of a page that was not read. */
const withoutIds = (file: Export) => ({
  ...file,
  documents: file.documents.map(({ source, chunks, ...doc }) => ({
    ...{ ...doc, chunks },
    source: source && { ...source, id: '', ...(chunks.length > 0 ? {} : UNREAD) },
  })),
})
const UNREAD = { created_at: '', checked_at: '' }

const titles = async (key: TestKey): Promise<string[]> =>
  (await docs(key)).map(({ title }: { title: string }) => title).toSorted()
describe.each(SURFACES)('a knowledge base on %s', (surface) => {
  test('documents are the same after export and import, with pages and headings', async () => {
    const email = `whole${surface.slice(1)}@example.com`
    const from = await app.key(email)
    const to = await freshKey()
    for (const text of ['第一次会议。', '第二次会议，另一天。']) {
      clock.advance(1_000)
      await call(from, 'POST', '/docs', { title: '会议纪要', text })
    }
    clock.advance(1_000)
    await ingest(from, longText(3), { title: '手册' })
    clock.advance(60_000)
    page.html('<title>公告</title><h1>停水</h1><p>周三停水。</p>')
    await call(from, 'POST', '/urls', { url: page.url, refresh: 'daily' })
    await idle()
    clock.advance(60_000)
    page.status(404)
    await call(from, 'POST', '/urls', { url: `${page.url}/unread`, title: '未读' })
    await idle()

    const credential = surface === '/v1' ? from : await app.person(email)
    const call2 = caller(app.url + surface, credential.headers)
    const answer = await call2<Export>('GET', '/export?kb=1&download=1')
    const whole = answer.json()
    expect(whole.documents.map(({ title }) => title)).toEqual([
      ...['会议纪要', '会议纪要', '手册 (1/3)', '手册 (2/3)', '手册 (3/3)', '公告', '未读'],
    ])
    expect(answer.text).not.toMatch(/tenant|etag|embed|vector/)
    expect((await call2('GET', '/export')).json()).not.toHaveProperty('documents')

    clock.advance(60_000)
    const result = await load(to, whole)
    expect(result).toMatchObject({ imported: { documents: 6 }, complete: true, errors: [] })
    await idle()
    expect(withoutIds(await exported(to))).toEqual(withoutIds(await exported(from)))
    const [sent, kept] = await Promise.all([docs(from), docs(to)])
    const shown = ({ id: _, source_id: __, ...doc }: Record<string, unknown>) => doc
    expect(kept.map(shown)).toEqual(sent.map(shown))
    expect((await load(to, whole)).imported.documents).toBe(0)
    expect(withoutIds(await exported(to))).toEqual(withoutIds(await exported(from)))
  })
})

describe('an import of documents', () => {
  test('imported documents are found by their words at once, and wait to be embedded', async () => {
    const key = await freshKey()
    const release = axis.hold('零件')
    await load(key, file(typed('仓库', '零件 AB-1234 在七号货架。')))
    await axis.reached()
    expect((await call(key, 'GET', '/embedding')).body).toEqual({ docs: 1, waiting: 1 })
    release()
    await idle()
    expect((await call(key, 'GET', '/embedding')).body).toEqual({ docs: 1, waiting: 0 })
    expect(await search(key, '货架')).toMatchObject([{ title: '仓库', score: 1 }])
  })

  test('merge replaces the n-th document of a title by the n-th of the import', async () => {
    const key = await freshKey()
    await load(key, file(typed('甲', '旧一')))
    const next = file(typed('甲', '新一'), typed('甲', '新二'), ...twoParts('s', '册'))
    const skipped = await load(key, next)
    expect(skipped.imported.documents).toBe(3)
    expect(skipped.skipped).toEqual(['文档「甲」已存在，已跳过'])
    const texts = async () =>
      (await exported(key)).documents.map(({ chunks }) => chunks.map(({ text }) => text).join())
    expect((await texts()).slice(0, 2)).toEqual(['旧一', '新二'])
    const before = await docs(key)
    const merged = await load(key, next, '&mode=merge')
    expect([merged.imported.documents, merged.skipped]).toEqual([4, []])
    expect((await texts()).slice(0, 2)).toEqual(['新一', '新二'])
    expect(await titles(key)).toEqual(['册 (1/2)', '册 (2/2)', '甲', '甲'])
    const ids = new Set(before.map(({ id }: { id: string }) => id))
    expect((await docs(key)).some(({ id }: { id: string }) => ids.has(id))).toBe(false)
  })

  test('a full knowledge base takes what fits, and a source whole or not at all', async () => {
    const key = await freshKey()
    const one = Array.from({ length: 7 }, (_, i) => typed(`${i}`))
    const result = await load(key, file(...one, ...twoParts('s', '册'), typed('末')))
    expect(result.imported.documents).toBe(8)
    expect(result.skipped).toEqual(['来源「册」未导入：知识库文档数已达上限（8 篇）'])
    expect(await titles(key)).toEqual(['0', '1', '2', '3', '4', '5', '6', '末'])
    // What is replaced makes room.
    const again = await load(key, file(typed('0', '新')), '&mode=merge')
    expect([again.imported.documents, again.skipped]).toEqual([1, []])
  })

  test('a wrong document does not stop others, and its whole source is refused', async () => {
    const key = await freshKey()
    const [first, second] = twoParts('s', '册')
    const page = {
      ...typed('页'),
      source: { id: 'p', kind: 'url', title: '页', url: 'http://10.0.0.1/' },
    }
    const result = await load(
      key,
      file(
        ...[7, { title: '空' }, typed('', '无题'), typed('大', '大'.repeat(700)), first],
        ...[{ ...second, chunks: [{ text: 3 }] }, page, { ...typed('好'), tenant_id: 'x' }],
      ),
    )
    expect(await titles(key)).toEqual(['好'])
    expect(result.imported.documents).toBe(1)
    expect(result.errors).toEqual([
      '第 1 个文档：字段 请求体 类型错误，应为对象',
      '第 2 个文档：chunks 不能为空',
      '第 3 个文档：title 不能为空',
      '文档「大」未导入：文档过大（最多 2 KB）',
      '第 6 个文档：字段 chunks.0.text 类型错误，应为字符串',
      '来源「页」未导入：url 不能指向内部主机',
    ])
  })

  test('a source of another tenant is neither shown nor changed', async () => {
    const victim = await freshKey()
    await load(victim, file(...twoParts('s', '秘密')))
    const before = await exported(victim)
    const key = await freshKey()
    const [id] = before.documents.map(({ source }) => source?.id)
    await load(key, file(...twoParts(id ?? '', '册')), '&mode=merge')
    expect(await exported(victim)).toEqual(before)
    expect(await titles(key)).toEqual(['册 (1/2)', '册 (2/2)'])
  })
})
