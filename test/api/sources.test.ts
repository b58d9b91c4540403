import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { expectRefusal } from '../support/kb.ts'
import { longText, oneAxisEmbedder, sections, sourcesClient } from '../support/sources.ts'

const { embedder } = oneAxisEmbedder()
let app: TestApp
let tenants = 0
beforeAll(async () => {
  app = await startApp({ embedder, env: { MB_KB_MAX_DOCS: '6', MB_KB_MAX_DOC_KB: '2' } })
})
afterAll(() => app[Symbol.asyncDispose]())

const freshKey = () => app.key(`t${++tenants}@example.com`)
const { call, send, upload, ingest, get, idle, docs, search } = sourcesClient(() => app)
const spooled = () => readdirSync(join(app.dataDir, 'spool'))

describe('a file', () => {
  test('a file is queued at once, read, and searchable as a document of its source', async () => {
    const key = await freshKey()
    const { status, body } = await upload(key, '# 假期\n\n请假须提前三天。', {
      name: '员工手册.v2.md',
    })
    expect([status, body]).toEqual([
      202,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: 'file',
        title: '员工手册.v2',
        media_type: 'text/markdown',
        bytes: 34,
        url: null,
        refresh: null,
        state: 'queued',
        error_class: null,
        error: null,
        pages: null,
        char_count: 0,
        doc_ids: [],
        parts: 0,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        checked_at: null,
        changed_at: null,
        retry_at: null,
        ocr_pages: 0,
        collection_id: null,
        origin: null,
        sha256: null,
      },
    ])
    await idle()
    const source = await get(key, body.id)
    expect(source).toEqual({
      ...body,
      state: 'ready',
      char_count: 14,
      doc_ids: [expect.any(String)],
      parts: 1,
    })
    expect(await docs(key)).toEqual([
      {
        id: source.doc_ids[0],
        title: '员工手册.v2',
        char_count: 14,
        chunk_count: 1,
        created_at: expect.any(String),
        source_id: body.id,
        collection_id: null,
        part: 1,
        parts: 1,
        cited_7d: 0,
      },
    ])
    expect((await search(key, '请假'))[0]).toMatchObject({ page: null, heading: '假期', url: null })
    expect((await call(key, 'GET', '/sources')).body).toEqual({ sources: [source] })
    expect(spooled()).toEqual([])
  })

  test('a long file becomes numbered parts, cut before headings, in their order', async () => {
    const key = await freshKey()
    const source = await ingest(key, longText(3), { title: '制度', name: '制度.md' })
    const listed = await docs(key)
    expect(listed.map(({ title, part, parts }: never) => [title, part, parts])).toEqual([
      ['制度 (1/3)', 1, 3],
      ['制度 (2/3)', 2, 3],
      ['制度 (3/3)', 3, 3],
    ])
    expect(source.doc_ids).toEqual(listed.map(({ id }: { id: string }) => id))
    expect(source.char_count).toBe([...sections(3).join('')].length)
    const { chunks } = (await call(key, 'GET', `/docs/${source.doc_ids[1]}/chunks`)).body
    expect(chunks[0]).toMatchObject({ text: expect.stringMatching(/^# 章2/), heading: '章2' })
  })

  test.each([
    ['a given title', { title: '  标题 ', name: 'a.txt' }, '标题'],
    ['a blank title', { title: ' ', name: '手册.txt' }, '手册'],
    ['a name without ending', { name: 'README' }, 'README'],
    ['a name of an ending alone', { name: '.gitignore' }, '.gitignore'],
    ['a name with folders', { name: '../../etc/手册.txt' }, '手册'],
    ['a name with control characters', { name: '\x01手\0\u0085册\x1b.txt' }, '手 册'],
    ['a long name', { name: `${'名'.repeat(250)}.txt` }, '名'.repeat(180)],
  ] as const)('the title of a file with %s', async (_name, options, title) => {
    const { body } = await upload(await freshKey(), '文字', options)
    expect(body.title).toBe(title)
  })

  test('sources are listed newest first', async () => {
    const key = await freshKey()
    for (const name of ['甲', '乙', '丙']) await ingest(key, name, { name: `${name}.txt` })
    const { sources } = (await call(key, 'GET', '/sources')).body
    expect(sources.map(({ title }: Source) => title)).toEqual(['丙', '乙', '甲'])
  })
})

describe('refusals at once', () => {
  const form = (...parts: string[]) => ({
    headers: { 'content-type': 'multipart/form-data; boundary=xx' },
    body: parts.join(''),
  })
  const part = (name: string, body: string, fileName?: string) =>
    `--xx\r\nContent-Disposition: form-data; name="${name}"` +
    `${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n\r\n${body}\r\n`
  const file = part('file', '文字', 'a.txt')
  const END = '--xx--\r\n'
  const rows: [string, RequestInit, number][] = [
    ['no body', {}, 400],
    ['JSON', { headers: { 'content-type': 'application/json' }, body: '{}' }, 400],
    ['no boundary', { headers: { 'content-type': 'multipart/form-data' }, body: file }, 400],
    ['no file', form(part('title', '标题'), END), 400],
    ['a file field without a file', form(part('file', '文字'), END), 400],
    ['an empty file', form(part('file', '', 'a.txt'), END), 400],
    ['two files', form(file, file, END), 400],
    ['an unfinished form', form(file), 400],
    ['a title of 181 characters', form(file, part('title', '题'.repeat(181)), END), 400],
    ['a program of two letters', form(part('file', 'MZ', 'setup.exe'), END), 415],
    ['a picture named as a PDF', form(part('file', '\x89PNG\r\n\x1a\n\0\0\0', 'a.pdf'), END), 415],
    ['a compressed body', { ...form(file, END), headers: { 'content-encoding': 'gzip' } }, 400],
  ]
  test.each(rows)(
    'an upload with %s is refused, and nothing is kept',
    async (_name, init, status) => {
      const key = await freshKey()
      expectRefusal(await send(key, 'POST', '/files', init), status)
      expect((await call(key, 'GET', '/sources')).body).toEqual({ sources: [] })
      expect(spooled()).toEqual([])
    },
  )

  test('a file just within the limit is read, one byte more is 413', async () => {
    await using app = await startApp({ embedder, env: { MB_KB_MAX_FILE_MB: '1' } })
    const { upload } = sourcesClient(() => app)
    const key = await app.key()
    const within = `文${' '.repeat(1024 * 1024 - 3)}`
    expect((await upload(key, within)).status).toBe(202)
    for (const more of [' ', ' '.repeat(200_000)]) {
      const refused = await upload(key, within + more)
      expectRefusal(refused, 413)
      expect(refused.text).toContain('1 MB')
    }
    expect((await sourcesClient(() => app).call(key, 'GET', '/limits')).body).toEqual({
      docs_max: 50,
      doc_kb_max: 100,
      file_mb_max: 1,
    })
  })

  test('a device may neither add nor see sources', async () => {
    const key = await app.key('d@example.com', { deviceId: 'd' })
    expectRefusal(await upload(key, '文字'), 403)
    expectRefusal(await call(key, 'GET', '/sources'), 403)
  })

  test("another tenant's source is as unknown as one that never was", async () => {
    const { id } = await ingest(await freshKey(), '文字')
    const stranger = await freshKey()
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', { refresh: 'off' }],
      ['POST', '/refresh', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      const foreign = await call(stranger, method, `/sources/${id}${path}`, body)
      const unknown = await call(stranger, method, `/sources/none${path}`, body)
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    }
  })

  test('keys of apps and signed-in people add files, too', async () => {
    const email = 'both@example.com'
    const { headers } = await app.person(email)
    const body = new FormData()
    body.set('file', new File(['文字'], 'a.txt'))
    const init = { method: 'POST', headers, body }
    const answer = await fetch(`${app.url}/console/kb/files`, init)
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([202, null])
    const key = await app.key(email, { appId: 'app' })
    expect((await upload(key, '文字')).status).toBe(202)
    expect((await call(key, 'GET', '/sources')).body.sources).toHaveLength(2)
    await idle()
  })

  test('a file is not refreshed', async () => {
    const key = await freshKey()
    const { id } = await ingest(key, '文字')
    expectRefusal(await call(key, 'POST', `/sources/${id}/refresh`), 400)
    expectRefusal(await call(key, 'PUT', `/sources/${id}`, { refresh: 'daily' }), 400)
  })
})

test('each call has its label in the request log, and no name of a file', async () => {
  const key = await freshKey()
  const { id } = await ingest(key, '机密的文字', { name: '机密.txt' })
  await upload(key, '')
  await call(key, 'POST', '/urls', {})
  await call(key, 'GET', '/sources')
  await call(key, 'PUT', `/sources/${id}`, { refresh: 'daily' })
  await call(key, 'POST', `/sources/${id}/refresh`)
  await call(key, 'DELETE', `/sources/${id}`)
  await app.flush()
  const rows = await app.db.all<{ endpoint: string; status: number }>({
    sql: 'SELECT * FROM request_log WHERE tenant_id = ? ORDER BY id',
    args: [key.tenantId],
  })
  expect(rows.map(({ endpoint, status }) => `${endpoint} ${status}`)).toEqual([
    ...['/v1/kb/files 202', '/v1/kb/sources/:id 200', '/v1/kb/files 400', '/v1/kb/urls 400'],
    ...['/v1/kb/sources 200', '/v1/kb/sources/:id 400', '/v1/kb/sources/:id 400'],
    '/v1/kb/sources/:id 200',
  ])
  expect(JSON.stringify(rows) + app.log()).not.toContain('机密')
})
