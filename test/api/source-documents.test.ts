import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { docxFile, paragraph } from '../support/office-files.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { oneAxisEmbedder, sourcesClient } from '../support/sources.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const { embedder } = oneAxisEmbedder()
let upstream: Upstream
let app: TestApp
let tenants = 0
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ embedder, upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const freshKey = () => app.key(`t${++tenants}@example.com`)
const { call, upload, ingest, get, docs, search } = sourcesClient(() => app)

const LINE = 'Every page of this long manual has forty lines that look like this one does.'
const manual = (pages: number, lines: number) =>
  pdfFile(
    Array.from({ length: pages }, (_, i) => ({
      lines: [
        `The rules of page ${i + 1} are about word${i + 1}x.`,
        ...new Array(lines).fill(LINE),
      ],
    })),
  )

test('hits, references and the model name the page of a PDF', async () => {
  const key = await freshKey()
  const source = await ingest(key, manual(3, 12), { name: 'manual.pdf' })
  expect(source).toMatchObject({ state: 'ready', media_type: 'application/pdf', pages: 3 })
  const { chunks } = (await call(key, 'GET', `/docs/${source.doc_ids[0]}/chunks`)).body
  const pages = chunks.map(({ page }: { page: number }) => page)
  expect(pages).toEqual([1, 1, 2, 2, 3, 3])
  const hits: { seq: number; page: number }[] = await search(key, 'word2x')
  expect(hits.map(({ page }) => page)).toEqual(hits.map(({ seq }) => pages[seq]))

  const body = { text: 'What are the rules about word3x?' }
  const stream = await postSse(`${app.url}/v1/agent`, { headers: key.headers, body })
  const [first] = (await stream.all()).map(({ data }) => data)
  const refs = (first as { refs: { page: number; heading: null; url: null }[] }).refs
  expect(refs[0]).toMatchObject({ page: expect.any(Number), heading: null, url: null })
  const asked = upstream.requests.findLast(({ path }) => path === '/chat/completions')
  expect(JSON.stringify(asked?.body)).toContain('页码=\\"3\\"')
})

test('a PDF of 300 pages appears at once, in parts that begin with pages', async () => {
  const key = await freshKey()
  const { body } = await upload(key, manual(300, 39), { name: '手册.pdf' })
  const seen = new Set<number>()
  for (;;) {
    const { state } = await get(key, body.id)
    seen.add((await docs(key)).length)
    if (state === 'ready') break
    expect(state).not.toBe('failed')
  }
  const source = await get(key, body.id)
  expect(source.pages).toBe(300)
  expect(source.parts).toBeGreaterThan(8)
  expect([...seen].filter((count) => count !== 0 && count !== source.parts)).toEqual([])
  const listed = await docs(key)
  expect(listed[0].title).toBe(`手册 (1/${source.parts})`)
  for (const { id, char_count } of listed) {
    expect(char_count).toBeLessThanOrEqual(100 * 1024)
    const { chunks } = (await call(key, 'GET', `/docs/${id}/chunks`)).body
    expect(chunks[0].text).toStartWith(`The rules of page ${chunks[0].page} `)
  }
}, 60_000)

test('a Word document is read with its headings', async () => {
  const key = await freshKey()
  const text = `${paragraph('停车', '1')}${paragraph('访客车辆停放在 B2 层。')}`
  const source = await ingest(key, docxFile(text), { name: '制度.docx' })
  expect(source).toMatchObject({ state: 'ready', pages: null, title: '制度' })
  expect(source.media_type).toEndWith('wordprocessingml.document')
  expect((await search(key, '停车'))[0]).toMatchObject({ heading: '停车', page: null })
})

test.each([
  ['no_text', pdfFile([{ content: '' }]), 'scan.pdf'],
  ['encrypted', pdfFile([{ lines: ['x'] }], { passwords: { user: 'u', owner: 'o' } }), 'a.pdf'],
  ['malformed', Buffer.from('%PDF-1.7\n'), 'b.pdf'],
] as const)('a PDF that cannot be read has failed as %s', async (errorClass, bytes, name) => {
  const source = await ingest(await freshKey(), bytes, { name })
  expect(source).toMatchObject({ state: 'failed', error_class: errorClass, doc_ids: [] })
})
