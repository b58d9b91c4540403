import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Embedder, EmbedKind } from '../../src/upstream/ports/embedder.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { expectRefusal, kbClient } from '../support/kb.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let tenants = 0

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    env: { MB_EMBED_BASE_URL: upstream.baseUrl, MB_EMBED_MODEL: 'fake-embed' },
  })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** A key of a tenant that nothing was stored for yet. */
const freshKey = () => app.key(`t${++tenants}@example.com`)

const { call, add, search } = kbClient(() => app.url)

describe('documents', () => {
  test('documents are stored, listed, shown in chunks, found and deleted', async () => {
    const key = await freshKey()
    expect((await call(key, 'GET', '/docs')).body).toEqual({ docs: [] })
    const text = '第36条 员工请年假须提前三天申请。\n\n第367条 加班按小时计。'
    const first = await add(key, '  员工手册 ', text)
    expect(first.status).toBe(201)
    const { note, ...doc } = first.body
    expect(doc).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      title: '员工手册',
      char_count: [...text].length,
      chunk_count: 1,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      source_id: null,
      part: null,
      parts: null,
      cited_7d: 0,
      collection_id: null,
    })
    expect(note).toMatch(/向量/)
    const second = await add(key, 'Handbook', 'Apply for leave three days ahead.')
    const { docs } = (await call(key, 'GET', '/docs')).body
    expect(docs.map((d: { id: string }) => d.id)).toEqual([second.body.id, doc.id])
    expect(docs[1]).toEqual(doc)
    expect((await call(key, 'GET', `/docs/${doc.id}/chunks`)).body).toEqual({
      chunks: [{ seq: 0, text, page: null, heading: '第36条', url: null }],
    })
    const found = await search(key, '第36条')
    expect(found.body.results[0]).toEqual({
      doc_id: doc.id,
      title: '员工手册',
      seq: 0,
      score: expect.any(Number),
      relevance: expect.any(Number),
      shown: true,
      text,
      page: null,
      heading: '第36条',
      url: null,
      collection_id: null,
    })
    const gone = await call(key, 'DELETE', `/docs/${doc.id}`)
    expect([gone.status, gone.body]).toEqual([200, { id: doc.id, deleted: true }])
    const after = await search(key, '第36条')
    expect(after.body.results.map((r: { doc_id: string }) => r.doc_id)).toEqual([second.body.id])
    expectRefusal(await call(key, 'DELETE', `/docs/${doc.id}`), 404)
    expectRefusal(await call(key, 'GET', `/docs/${doc.id}/chunks`), 404)
  })

  test('long documents are cut into numbered chunks; the preview shows 50', async () => {
    const key = await freshKey()
    const text = Array.from({ length: 1500 }, (_, i) => `第${i}句讲的是不同的事情。`).join('')
    const { body } = await add(key, '长文', text)
    expect(body.chunk_count).toBeGreaterThan(25)
    const { chunks } = (await call(key, 'GET', `/docs/${body.id}/chunks`)).body
    expect(chunks.map((c: { seq: number }) => c.seq)).toEqual(
      Array.from({ length: body.chunk_count }, (_, i) => i).slice(0, 50),
    )
    expect(Object.keys(chunks[0])).toEqual(['seq', 'text', 'page', 'heading', 'url'])
    const from = async (start: string) =>
      (await call(key, 'GET', `/docs/${body.id}/chunks?from=${start}`)).body.chunks
    expect((await from('20'))[0]).toEqual(chunks[20])
    expect((await from('20')).at(-1).seq).toBe(body.chunk_count - 1)
    expect(await from('999999')).toEqual([])
    const wrong = await call(key, 'GET', `/docs/${body.id}/chunks?from=-1`)
    expectRefusal(wrong, 400)
    const { results } = (await search(key, '第777句')).body
    expect(results).toHaveLength(5)
    for (const { text: preview } of results) expect([...preview].length).toBeLessThanOrEqual(200)
    const scores = results.map((r: { score: number }) => r.score)
    expect(scores).toEqual([...scores].sort((a: number, b: number) => b - a))
  })

  test('each chunk of a typed document names the heading that its new text is under', async () => {
    const key = await freshKey()
    const sections = ['请假', '加班'].map((name) => `# ${name}\n\n${`${name}的规定。`.repeat(60)}`)
    const { body } = await add(key, '手册', ['前言。', ...sections].join('\n\n'))
    const { chunks } = (await call(key, 'GET', `/docs/${body.id}/chunks`)).body
    expect(chunks.map(({ heading }: { heading: string | null }) => heading)).toEqual([null, '加班'])
    const { results } = (await search(key, '加班的规定')).body
    expect(results[0]).toMatchObject({ page: null, heading: '加班', url: null })
  })

  test('a hit begins with its own section', async () => {
    const key = await freshKey()
    const section = (name: string) => `# ${name}\n\n${`${name}的规定在这里。`.repeat(20)}`
    await add(key, '手册', ['请假', '加班', '出差'].map(section).join('\n\n'))
    const { results } = (await search(key, '加班的规定')).body
    const texts = results.map(({ text }: { text: string }) => text)
    expect(texts).toHaveLength(3)
    for (const text of texts) expect(text).toStartWith('# ')
  })

  test('markup, control characters and lone surrogates in documents are text', async () => {
    const key = await freshKey()
    const text = ' <script>alert(1)</script>\u0000 尾巴 \ud800 𠮷'
    const { status, body } = await add(key, '<b>\u0000题</b>', text)
    expect(status).toBe(201)
    const { chunks } = (await call(key, 'GET', `/docs/${body.id}/chunks`)).body
    const stored = (given: string) => given.replaceAll('\0', '\ufffd')
    expect(chunks[0].text).toBe(stored(text.trim().toWellFormed()))
    expect(body.char_count).toBe([...text.trim()].length)
    expect((await search(key, '尾巴')).body.results[0].title).toBe(stored('<b>\u0000题</b>'))
  })
})

/** Embeds every text to the same vector. */
const axes: Embedder = {
  id: 'one axis',
  embed: async (texts) => texts.map(() => Float32Array.of(1, 0)),
  close: async () => {},
}

test('a passage found only by its words has its cosine as score', async () => {
  const axis = (x: number) => new Float32Array([x, Math.sqrt(1 - x * x)])
  const asked: EmbedKind[] = []
  const embedder: Embedder = {
    id: 'axes',
    async embed(texts, kind) {
      asked.push(kind)
      return texts.map((text) => axis(kind === 'query' || !text.includes('AB-1234') ? 1 : 0.25))
    },
    close: async () => {},
  }
  await using app = await startApp({ embedder })
  const { add, search } = kbClient(() => app.url)
  const key = await app.key()
  await add(key, '零件', '零件 AB-1234 在七号货架。')
  const crowd = Array.from({ length: 60 }, (_, i) => `## 第${i}节\n\n${'规定'.repeat(200)}`)
  expect((await add(key, '手册', crowd.join('\n\n'))).body.chunk_count).toBeGreaterThan(50)
  asked.length = 0
  const { results } = (await search(key, 'AB-1234')).body
  expect(asked).toEqual(['query'])
  const part = results.find(({ title }: { title: string }) => title === '零件')
  expect(part.score).toBeCloseTo(0.25, 3)
})

describe('refusals', () => {
  const rows: [string, unknown, number][] = [
    ['no JSON', '{', 400],
    ['an array', '[]', 400],
    ['no title', { text: '文' }, 400],
    ['a blank title', { title: ' \n', text: '文' }, 400],
    ['a title of another type', { title: 1, text: '文' }, 400],
    ['a title of 201 characters', { title: '题'.repeat(201), text: '文' }, 400],
    ['no text', { title: '题' }, 400],
    ['a blank text', { title: '题', text: ' \t\n' }, 400],
    ['a text of another type', { title: '题', text: ['文'] }, 400],
    ['a text over 100 KB', { title: '题', text: 'x'.repeat(102_401) }, 413],
    [
      'a text over 100 KB in three-byte characters',
      { title: '题', text: '文'.repeat(34_134) },
      413,
    ],
    ['a body over 1 MB', { title: '题', text: 'x'.repeat(1_100_000) }, 413],
  ]
  for (const [name, body, status] of rows) {
    test(`a document with ${name} is refused with ${status}`, async () => {
      const key = await freshKey()
      expectRefusal(await call(key, 'POST', '/docs', body), status)
      expect((await call(key, 'GET', '/docs')).body).toEqual({ docs: [] })
    })
  }

  test('how many documents a tenant may have, and how large, are settings', async () => {
    const env = { MB_KB_MAX_DOCS: '1', MB_KB_MAX_DOC_KB: '2' }
    await using app = await startApp({ env, embedder: axes })
    const { add } = kbClient(() => app.url)
    const key = await app.key()
    const large = await add(key, '大', 'x'.repeat(2049))
    expectRefusal(large, 413)
    expect(large.text).toContain('2 KB')
    expect((await add(key, '大', 'x'.repeat(2048))).status).toBe(201)
    const second = await add(key, '又一篇', 'x')
    expectRefusal(second, 403)
    expect(second.text).toContain('1 篇')
  })

  test('a document just within the limits is stored', async () => {
    const key = await freshKey()
    expect((await add(key, '𠮷'.repeat(200), 'x'.repeat(102_400))).status).toBe(201)
  })

  const searches = ['{', '[]', '{}', { q: '' }, { q: '  ' }, { q: 7 }, { q: null }]
  for (const body of searches) {
    test(`a search for ${JSON.stringify(body)} is refused with 400`, async () => {
      expectRefusal(await call(await freshKey(), 'POST', '/search', body), 400)
    })
  }

  test('a deletion without an id is refused with 400, one of an unknown id with 404', async () => {
    const key = await freshKey()
    for (const none of ['', '/', '/%20']) {
      expectRefusal(await call(key, 'DELETE', `/docs${none}`), 400)
    }
    expectRefusal(await call(key, 'DELETE', '/docs/unknown'), 404)
    expectRefusal(await call(key, 'DELETE', `/docs/${'9'.repeat(5000)}`), 404)
    expectRefusal(await call(key, 'GET', `/docs/${encodeURIComponent("' OR 1=1 --")}/chunks`), 404)
  })

  test('the 51st document is refused, also when many come at once', async () => {
    const key = await freshKey()
    const addMany = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => add(key, `d${i}`, 'x')))
    await addMany(48)
    const answers = await addMany(6)
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 403, 403, 403, 403])
    expect((await call(key, 'GET', '/docs')).body.docs).toHaveLength(50)
    const refused = await add(key, 'more', 'x')
    expectRefusal(refused, 403)
    // What is wrong with the body is said first.
    expectRefusal(await add(key, '', 'x'), 400)
    expectRefusal(await add(key, 'big', 'x'.repeat(102_401)), 413)
  })
})

describe('an embedder that fails', () => {
  test('an upload whose embedding fails answers 502 and stores nothing', async () => {
    const key = await freshKey()
    for (const fault of [401, 'html', 'redirect'] as const) {
      upstream.embeddings.fault(fault)
      expectRefusal(await add(key, '题', '文'), 502)
    }
    upstream.embeddings.reply({ missing: 1 })
    expectRefusal(await add(key, '题', '文'), 502)
    expect((await call(key, 'GET', '/docs')).body).toEqual({ docs: [] })
    upstream.embeddings.fault(400)
    expectRefusal(await search(key, '文'), 502)
    expect((await add(key, '题', '文')).status).toBe(201)
  })

  test('a busy embedder is asked again for a document', async () => {
    const key = await freshKey()
    upstream.embeddings.fault(503)
    expect((await add(key, '题', '文')).status).toBe(201)
  })

  test('an embedder that fails in the middle of a document leaves no part of it', async () => {
    const key = await freshKey()
    const text = Array.from({ length: 700 }, (_, i) => `第${i}句。`.repeat(4)).join('')
    upstream.embeddings.reply({})
    upstream.embeddings.fault(403)
    expectRefusal(await add(key, '长文', text), 502)
    expect((await call(key, 'GET', '/docs')).body).toEqual({ docs: [] })
    expect((await search(key, '第5句')).body).toEqual({ results: [] })
  })
})

test('log rows of documents have fixed labels, and count the text alone', async () => {
  const key = await freshKey()
  const { body } = await add(key, '标题很长', ' 五个字的文 ')
  await search(key, ' 两字 ')
  await call(key, 'DELETE', `/docs/${body.id}`)
  await app.flush()
  const rows = await app.db.all<{ endpoint: string; status: number; text_chars: number | null }>({
    sql: 'SELECT endpoint, status, text_chars FROM request_log WHERE tenant_id = ? ORDER BY ts, id',
    args: [key.tenantId],
  })
  expect(rows).toEqual([
    { endpoint: '/v1/kb/docs', status: 201, text_chars: 5 },
    { endpoint: '/v1/kb/search', status: 200, text_chars: 2 },
    { endpoint: '/v1/kb/docs/:id', status: 200, text_chars: null },
  ])
})
