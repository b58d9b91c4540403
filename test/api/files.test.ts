import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CHAT_FILES_MAX } from '../../src/core/limits/contract.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { filesClient, type Headers } from '../support/chat-files.ts'
import { fakeClock } from '../support/clock.ts'
import {
  docxFile,
  epubFile,
  paragraph,
  pptxFile,
  shape,
  sheet,
  xlsxFile,
} from '../support/office-files.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { oneAxisEmbedder } from '../support/sources.ts'
import { startTeam } from '../support/team.ts'

const { embedder } = oneAxisEmbedder()
let app: TestApp
let tenants = 0
beforeAll(async () => {
  app = await startApp({ embedder, env: { MB_KB_MAX_DOC_KB: '2', MB_METRICS_TOKEN: 't' } })
})
afterAll(() => app[Symbol.asyncDispose]())

const email = () => `f${++tenants}@example.com`
const freshKey = async () => (await app.key(email())).headers
const { call, upload, get, ingest, keep } = filesClient(() => app.url)

const PAGE = '<html><body><h1>假期</h1><p>请假须提前三天。</p></body></html>'
const KINDS: readonly (readonly [string, string | Uint8Array, string])[] = [
  ['a.txt', '请假须提前三天。', 'text/plain'],
  ['a.md', '# 假期\n\n请假须提前三天。', 'text/markdown'],
  ['a.html', PAGE, 'text/html'],
  ['a.csv', '事项,规定\n请假,请假须提前三天', 'text/csv'],
  ['a.tsv', '事项\t规定\n请假\t请假须提前三天', 'text/tab-separated-values'],
  ['a.pdf', pdfFile([{ lines: ['请假须提前三天。'] }], { chinese: true }), 'application/pdf'],
  ['a.docx', docxFile(paragraph('请假须提前三天。')), 'wordprocessingml.document'],
  ['a.pptx', pptxFile([{ body: shape('请假须提前三天。') }]), 'presentationml.presentation'],
  ['a.xlsx', xlsxFile({ 表: sheet([['请假', '请假须提前三天']]) }), 'spreadsheetml.sheet'],
  ['a.epub', epubFile({ 'a.xhtml': '<p>请假须提前三天。</p>' }), 'application/epub+zip'],
]

describe('a file to talk about', () => {
  test.each(KINDS)('%s is read, and its text can be paged', async (name, content, type) => {
    const key = await freshKey()
    const { status, body } = await upload(key, content, name)
    expect(status).toBe(202)
    expect(body).toEqual({
      id: expect.any(String),
      ...{ name, media_type: expect.stringContaining(type), bytes: expect.any(Number) },
      ...{ state: 'reading', error_class: null, error: null, pages: null, pages_done: null },
      ...{ ocr_pages: 0, char_count: 0, expires_at: expect.any(String) },
      created_at: expect.any(String),
    })
    await app.jobs.idle()
    const file = await get(key, body.id)
    expect(file.state).toBe('ready')
    expect(file.char_count).toBeGreaterThan(0)
    expect(file.pages_done).toBe(file.pages)
    const { passages, next } = (await call(key, 'GET', `/${file.id}/text`)).body
    expect(passages.map(({ text }: { text: string }) => text).join('')).toContain('请假须提前三天')
    expect(next).toBeNull()
  })

  test('the text of a long file is paged through its parts without overlaps', async () => {
    const key = await freshKey()
    const pages = Array.from({ length: 30 }, (_, i) => ({
      lines: Array.from({ length: 12 }, (_, j) => `Page ${i + 1} line ${j} says ${i * 100 + j}.`),
    }))
    const file = await ingest(key, pdfFile(pages), '../dir/long.pdf')
    expect(file).toMatchObject({ name: 'long.pdf', pages: 30, pages_done: 30 })
    const seen: { seq: number; page: number; text: string }[] = []
    for (let from: number | null = 0; from !== null; ) {
      const { body } = await call(key, 'GET', `/${file.id}/text?from=${from}&count=7`)
      seen.push(...body.passages)
      from = body.next
    }
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, i) => i))
    expect(new Set(seen.map(({ page }) => page)).size).toBe(30)
    const whole = seen.map(({ text }) => text).join('')
    expect(whole.match(/Page 17 line 3 says 1603\./g)).toHaveLength(1)
    expect((await call(key, 'GET', `/${file.id}/text?from=9999`)).body).toEqual({
      passages: [],
      next: null,
    })
    expect((await call(key, 'GET', `/${file.id}/text?from=-1`)).status).toBe(400)
  })

  test('it is in no search, list or export of the knowledge base', async () => {
    const { headers } = await app.key(email())
    const v1 = caller(`${app.url}/v1`, headers)
    const file = await ingest(headers, '月球基地的备用密码是蓝色香蕉', 'secret.txt')
    expect((await v1('GET', '/kb/docs')).json()).toEqual({ docs: [] })
    expect((await v1('GET', '/kb/sources')).json()).toEqual({ sources: [] })
    expect((await v1('GET', `/kb/sources/${file.id}`)).status).toBe(404)
    expect((await v1('DELETE', `/kb/sources/${file.id}`)).status).toBe(404)
    expect((await v1('POST', '/kb/search', { q: '备用密码' })).json()).toEqual({ results: [] })
    expect((await v1('GET', '/export?kb=1')).text).not.toContain('secret')
  })

  test('the list is newest first and goes on after next_before', async () => {
    const key = await freshKey()
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.push((await ingest(key, name, `${name}.txt`)).id)
    const first = (await call(key, 'GET', '?limit=2')).body
    expect(first.files.map(({ name }: { name: string }) => name)).toEqual(['c.txt', 'b.txt'])
    const rest = (await call(key, 'GET', `?limit=2&before=${first.next_before}`)).body
    expect(rest.files.map(({ name }: { name: string }) => name)).toEqual(['a.txt'])
    expect(rest.next_before).toBeNull()
    expect((await call(key, 'DELETE', `/${ids[0]}`)).body).toEqual({ id: ids[0], deleted: true })
    expect((await call(key, 'DELETE', `/${ids[0]}`)).status).toBe(404)
    expect((await call(key, 'GET', `/${ids[0]}`)).status).toBe(404)
    await app.jobs.idle()
    const chunks = 'SELECT num FROM kb_doc WHERE source_id = ?'
    expect(await app.db.all({ sql: chunks, args: [ids[0] as string] })).toEqual([])
  })

  test('a picture, an empty file and a broken one are refused or fail', async () => {
    const key = await freshKey()
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0, 1, 2])
    expect((await upload(key, png, 'a.png')).status).toBe(415)
    expect((await upload(key, '', 'a.txt')).status).toBe(400)
    const broken = await ingest(key, '%PDF-1.4\nnothing', 'a.pdf')
    expect(broken).toMatchObject({ state: 'failed', error_class: 'malformed' })
    for (const [method, path] of [
      ['GET', `/${broken.id}/text`],
      ['POST', `/${broken.id}/keep`],
    ] as const) {
      expect((await call(key, method, path)).code).toBe('file_failed')
    }
  })

  test('a tenant has 200 living files, also when two come at once', async () => {
    const { headers, tenantId } = await app.key(email())
    const { id } = await ingest(headers, 'x', 'a.txt')
    await app.db.batch(
      Array.from({ length: CHAT_FILES_MAX - 2 }, (_, i) => [
        {
          sql: `INSERT INTO kb_source (id, tenant_id, kind, title, is_named, file_name, media_type,
            bytes, state, created_at) SELECT ?, tenant_id, kind, title, is_named, file_name,
            media_type, bytes, state, created_at FROM kb_source WHERE id = ?`,
          args: [`${tenantId}-${i}`, id],
        },
        {
          sql: `INSERT INTO chat_file (id, tenant_id, name, hash, expires_at)
            SELECT ?, tenant_id, name, hash, expires_at FROM chat_file WHERE id = ?`,
          args: [`${tenantId}-${i}`, id],
        },
      ]).flat(),
    )
    const answers = await Promise.all([upload(headers, 'y'), upload(headers, 'z')])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 403])
    expect((await upload(headers, 'w')).code).toBe('quota_files')
  })
})

describe('whose a file is', () => {
  test("another tenant's file does not exist", async () => {
    const [mine, theirs] = [await freshKey(), await freshKey()]
    const { id } = await ingest(mine, 'x')
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/text'],
      ['POST', '/keep'],
    ] as const) {
      expect((await call(theirs, method, `/${id}${path}`)).status).toBe(404)
    }
    expect((await call(theirs, 'GET', '')).body.files).toEqual([])
  })

  test("an app's key sees its app's files, a general key and people all", async () => {
    const mail = email()
    const general = await app.key(mail)
    const v1 = caller(`${app.url}/v1`, general.headers)
    const apps = await Promise.all(
      ['one', 'two'].map(async (name) =>
        (await v1<{ id: string }>('POST', '/apps', { name })).json(),
      ),
    )
    const keys = await Promise.all(apps.map(({ id }) => app.key(mail, { appId: id })))
    const [one, two] = keys.map(({ headers }) => headers)
    if (!one || !two) throw new Error('no keys')
    const ofOne = await ingest(one, 'one', 'one.txt')
    const ofAll = await ingest(general.headers, 'all', 'all.txt')
    const names = async (headers: Headers) =>
      (await call(headers, 'GET', '')).body.files.map(({ name }: { name: string }) => name)
    expect(await names(one)).toEqual(['one.txt'])
    expect(await names(two)).toEqual([])
    expect(await names(general.headers)).toEqual(['all.txt', 'one.txt'])
    expect(await names((await app.person(mail)).headers)).toEqual(['all.txt', 'one.txt'])
    expect((await call(two, 'GET', `/${ofOne.id}`)).status).toBe(404)
    expect((await call(one, 'GET', `/${ofAll.id}`)).status).toBe(404)
    // A deleted app takes its files along.
    await v1('DELETE', `/apps/${apps[0]?.id}`)
    expect(await names(general.headers)).toEqual(['all.txt'])
    await app.prune()
    const rows = 'SELECT id FROM kb_source WHERE id = ?'
    expect(await app.db.all({ sql: rows, args: [ofOne.id] })).toEqual([])
  })
})

describe('keeping a file', () => {
  test('a viewer has their own, and the others of the tenant all', async () => {
    const team = await startTeam(app)
    const [viewer, editor] = [await team.join('viewer'), await team.join('editor')]
    const theirs = await ingest(viewer.headers, 'of the viewer', 'v.txt')
    const ours = await ingest(team.headers, 'of the owner', 'o.txt')
    const status = async (by: Headers, method: string, id: string) =>
      (await call(by, method, `/${id}`)).status
    expect((await call(viewer.headers, 'GET', '')).body.files).toMatchObject([{ id: theirs.id }])
    expect(await status(viewer.headers, 'GET', ours.id)).toBe(404)
    expect(await status(viewer.headers, 'DELETE', ours.id)).toBe(404)
    for (const { id } of [theirs, ours]) {
      expect((await keep(viewer.headers, id)).status).toBe(403)
      expect(await status(editor.headers, 'GET', id)).toBe(200)
    }
    expect(await status(viewer.headers, 'DELETE', theirs.id)).toBe(200)
    expect(await status(editor.headers, 'DELETE', theirs.id)).toBe(404)
  })

  test('its text goes into the knowledge base, with pages, and is found', async () => {
    const { headers } = await app.key(email())
    const v1 = caller(`${app.url}/v1`, headers)
    const pages = Array.from({ length: 3 }, (_, i) => ({
      lines: [`Page ${i + 1} tells of zebra${i}.`],
    }))
    const file = await ingest(headers, pdfFile(pages), 'animals.pdf')
    const { status, body } = await keep(headers, file.id)
    expect(status).toBe(202)
    expect(body).toMatchObject({ kind: 'file', title: 'animals', state: 'ready', pages: 3 })
    expect(body.char_count).toBe(file.char_count)
    const { results } = (await v1('POST', '/kb/search', { q: 'zebra1' })).json() as {
      results: { page: number }[]
    }
    expect(results[0]?.page).toBe(2)
    await call(headers, 'DELETE', `/${file.id}`)
    expect((await v1('GET', `/kb/sources/${body.id}`)).status).toBe(200)
    const named = await ingest(headers, 'x', 'b.txt')
    expect((await keep(headers, named.id, { title: '新名' })).body.title).toBe('新名')
  })
})

describe('the life of a file', () => {
  test('it ends MB_FILE_HOURS after it came, and nothing of it is left', async () => {
    const clock = fakeClock()
    await using timed = await startApp({ embedder, clock, env: { MB_FILE_HOURS: '0.5' } })
    const client = filesClient(() => timed.url)
    const { headers } = await timed.key()
    const { body } = await client.upload(headers, 'x')
    await timed.jobs.idle()
    clock.advance(29 * 60_000)
    expect((await client.get(headers, body.id)).state).toBe('ready')
    clock.advance(60_000)
    expect((await client.call(headers, 'GET', `/${body.id}`)).status).toBe(404)
    expect((await client.call(headers, 'GET', '')).body.files).toEqual([])
    await timed.prune()
    for (const table of ['kb_source', 'chat_file']) {
      expect(await timed.db.all({ sql: `SELECT id FROM ${table}`, args: [] })).toEqual([])
    }
  })

  test('living files are counted in the metrics', async () => {
    const answer = await fetch(`${app.url}/metrics`, { headers: { authorization: 'Bearer t' } })
    expect(await answer.text()).toMatch(/^moonbase_files \d+$/m)
  })
})
