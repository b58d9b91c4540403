import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sha256Hex } from '../../src/core/crypto.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'

/** Files that are uploaded again under the name of their origin. */

interface Source {
  readonly id: string
  readonly state: string
  readonly error_class: string | null
  readonly origin: string | null
  readonly sha256: string | null
  readonly doc_ids: readonly string[]
}

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

let tenants = 0

async function tenant() {
  const { headers } = await app.key(`v${tenants++}@example.com`)
  const me = caller(`${app.url}/v1`, headers)
  return {
    me,
    async upload(text: string, { name = 'a.md', ...fields }: Record<string, string>) {
      const form = new FormData()
      for (const [field, value] of Object.entries(fields)) form.set(field, value)
      form.set('file', new File([text], name))
      const answer = await fetch(`${app.url}/v1/kb/files`, { method: 'POST', headers, body: form })
      const source = (answer.ok ? await answer.json() : null) as Source
      return { status: answer.status, source }
    },
    get: async (id: string) => (await me<Source>('GET', `/kb/sources/${id}`)).json(),
    async list(query: string) {
      return (await me<{ sources: Source[] }>('GET', `/kb/sources${query}`)).json().sources
    },
    /** Texts of the passages that are found. */
    async found(query: string) {
      const answer = await me<{ results: { text: string }[] }>('POST', '/kb/search', { q: query })
      return answer.json().results.map(({ text }) => text)
    },
  }
}

const OLD = '# 密码\n\n月球基地的旧密码是蓝色香蕉。'
const NEW = '# 密码\n\n月球基地的新密码是红色苹果。'
const QUESTION = '月球基地的密码是什么？'

describe('the origin of a file', () => {
  test('the same bytes of an origin are the source as it is', async () => {
    const { upload, get } = await tenant()
    const first = await upload(OLD, { origin: 'docs/a.md', sha256: sha256Hex(OLD) })
    expect([first.status, first.source]).toMatchObject([
      202,
      { origin: 'docs/a.md', sha256: sha256Hex(OLD) },
    ])
    await app.jobs.idle()
    const same = await upload(OLD, { origin: 'docs/a.md', sha256: sha256Hex(OLD).toUpperCase() })
    expect([same.status, same.source]).toEqual([200, await get(first.source.id)])
    expect(same.source.state).toBe('ready')
  })

  test('other bytes replace the text of the source, which keeps its id', async () => {
    const { upload, get, list, found } = await tenant()
    const { source } = await upload(OLD, { origin: 'a.md' })
    await app.jobs.idle()
    const before = await get(source.id)
    const next = await upload(NEW, { origin: 'a.md' })
    expect([next.status, next.source.id]).toEqual([202, source.id])
    await app.jobs.idle()
    const after = await get(source.id)
    expect(after).toMatchObject({ state: 'ready', sha256: sha256Hex(NEW), error_class: null })
    expect(after.doc_ids).toHaveLength(1)
    expect(after.doc_ids).not.toEqual(before.doc_ids)
    expect(await list('')).toEqual([after])
    expect((await found(QUESTION)).join()).toContain('红色苹果')
    expect((await found(QUESTION)).join()).not.toContain('蓝色香蕉')
  })

  test('versions that follow each other at once end with the last one', async () => {
    const { upload, get, list } = await tenant()
    const texts = ['one', 'two', 'three', 'four'].map((word) => `# ${word}\n\nIt is ${word}.`)
    const ids = new Set<string>()
    for (const text of texts) ids.add((await upload(text, { origin: 'x' })).source.id)
    await app.jobs.idle()
    const [id = ''] = ids
    expect(ids.size).toBe(1)
    expect(await get(id)).toMatchObject({ state: 'ready', sha256: sha256Hex(texts[3] ?? '') })
    expect(await list('')).toHaveLength(1)
    expect((await get(id)).doc_ids).toHaveLength(1)
  })

  test('files of a new origin that come at once are versions of one source', async () => {
    const { upload, get, list } = await tenant()
    const texts = ['one', 'two', 'three', 'four'].map((word) => `# ${word}\n\nIt is ${word}.`)
    const sent = await Promise.all(texts.map((text) => upload(text, { origin: 'x' })))
    expect(sent.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    await app.jobs.idle()
    const [id = '', ...others] = new Set(sent.map(({ source }) => source.id))
    expect(others).toEqual([])
    expect(await list('')).toEqual([await get(id)])
    expect(await get(id)).toMatchObject({ state: 'ready', error_class: null })
    expect(texts.map(sha256Hex)).toContain((await get(id)).sha256 ?? '')

    const same = await Promise.all(texts.map(() => upload(OLD, { origin: 'y' })))
    expect(same.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 202])
    expect(new Set(same.map(({ source }) => source.id)).size).toBe(1)
  })

  test('a version that cannot be read leaves the old text', async () => {
    const { upload, get, found } = await tenant()
    const { source } = await upload(OLD, { origin: 'a.md' })
    await app.jobs.idle()
    const broken = await upload('%PDF-1.7 broken', { origin: 'a.md', name: 'a.pdf' })
    expect(broken.status).toBe(202)
    await app.jobs.idle()
    const after = await get(source.id)
    expect(after).toMatchObject({ state: 'ready', sha256: sha256Hex(OLD) })
    expect(after.error_class).not.toBeNull()
    expect((await found(QUESTION)).join()).toContain('蓝色香蕉')
    await upload(NEW, { origin: 'a.md' })
    await app.jobs.idle()
    expect(await get(source.id)).toMatchObject({ error_class: null, sha256: sha256Hex(NEW) })
  })

  test('a source that is deleted takes its waiting version with it', async () => {
    const { me, upload, list } = await tenant()
    const { source } = await upload(OLD, { origin: 'a.md' })
    await app.jobs.idle()
    await upload(NEW, { origin: 'a.md' })
    expect((await me('DELETE', `/kb/sources/${source.id}`)).status).toBe(200)
    await app.jobs.idle()
    expect(await list('')).toEqual([])
    const again = await upload(NEW, { origin: 'a.md' })
    expect(again.status).toBe(202)
    expect(again.source.id).not.toBe(source.id)
    await app.jobs.idle()
  })

  test('a source of another collection is not replaced', async () => {
    const { me, upload, list } = await tenant()
    const { id } = (await me<{ id: string }>('POST', '/kb/collections', { name: '手册' })).json()
    const one = await upload(OLD, { origin: 'a.md' })
    const two = await upload(NEW, { origin: 'a.md', collection_id: id })
    expect(two.status).toBe(202)
    expect(two.source.id).not.toBe(one.source.id)
    await app.jobs.idle()
    expect(await list('')).toHaveLength(2)
    expect(await list(`?collection_id=${id}`)).toMatchObject([{ sha256: sha256Hex(NEW) }])
  })

  test('a source is not moved to where its origin is, nor changed otherwise', async () => {
    const { me, upload, list, get } = await tenant()
    const { id } = (await me<{ id: string }>('POST', '/kb/collections', { name: '手册' })).json()
    const one = await upload(OLD, { origin: 'a.md' })
    const two = await upload(NEW, { origin: 'a.md', collection_id: id })
    const free = await upload(NEW, {})
    await app.jobs.idle()
    const before = await get(one.source.id)
    const changes = { title: 'other', collection_id: id }
    const refused = await me('PUT', `/kb/sources/${one.source.id}`, changes)
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([409, 'origin_taken'])
    expect(await get(one.source.id)).toEqual(before)
    const missing = await me('PUT', `/kb/sources/${one.source.id}`, { collection_id: 'unknown' })
    expect(missing.status).toBe(404)
    // Where it is already, and files without an origin.
    for (const source of [two.source, free.source]) {
      const moved = await me<Source>('PUT', `/kb/sources/${source.id}`, changes)
      expect([moved.status, moved.json()]).toMatchObject([200, changes])
    }
    await me('DELETE', `/kb/sources/${two.source.id}`)
    const moved = await me('PUT', `/kb/sources/${one.source.id}`, changes)
    expect(moved.status).toBe(200)
    expect(await list(`?collection_id=${id}&origin_prefix=a`)).toMatchObject([
      { id: one.source.id },
    ])
  })

  test('of two moves of one origin that come at once one is refused', async () => {
    const { me, upload, list } = await tenant()
    const ids: string[] = []
    for (const name of ['甲', '乙', '丙']) {
      ids.push((await me<{ id: string }>('POST', '/kb/collections', { name })).json().id)
    }
    const [a = '', b = '', to] = ids
    const one = await upload(OLD, { origin: 'a.md', collection_id: a })
    const two = await upload(NEW, { origin: 'a.md', collection_id: b })
    const moves = await Promise.all(
      [one, two].map(({ source }) => me('PUT', `/kb/sources/${source.id}`, { collection_id: to })),
    )
    expect(moves.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(await list(`?collection_id=${to}`)).toHaveLength(1)
    await app.jobs.idle()
  })

  test('an upload that comes at once with a move of its source belongs where it says', async () => {
    const { me, upload, list, get } = await tenant()
    const { id: to } = (
      await me<{ id: string }>('POST', '/kb/collections', { name: '手册' })
    ).json()
    const one = await upload(OLD, { origin: 'a.md' })
    await app.jobs.idle()
    const { batch } = app.db
    // The source is moved after the upload has found it, and before it is stored.
    app.db.batch = async (statements) => {
      if (statements[0]?.sql.includes('INSERT INTO kb_source')) {
        app.db.batch = batch
        const moved = await me('PUT', `/kb/sources/${one.source.id}`, { collection_id: to })
        expect(moved.status).toBe(200)
      }
      return batch.call(app.db, statements)
    }
    const two = await upload(NEW, { origin: 'a.md' })
    expect(two.status).toBe(202)
    await app.jobs.idle()
    expect(await list(`?collection_id=${to}`)).toMatchObject([
      { id: one.source.id, sha256: sha256Hex(OLD) },
    ])
    expect(await list('?collection_id=none')).toMatchObject([
      { id: two.source.id, sha256: sha256Hex(NEW), origin: 'a.md' },
    ])
    expect(await get(two.source.id)).toMatchObject({ state: 'ready' })
  })

  test('a collection that is deleted leaves its files, and one of an origin', async () => {
    const { me, upload, list } = await tenant()
    const { id } = (await me<{ id: string }>('POST', '/kb/collections', { name: '手册' })).json()
    const one = await upload(OLD, { origin: 'a.md' })
    const two = await upload(NEW, { origin: 'a.md', collection_id: id })
    const three = await upload(NEW, { origin: 'b.md', collection_id: id })
    await app.jobs.idle()
    expect((await me('DELETE', `/kb/collections/${id}`)).status).toBe(200)
    const origins = new Map((await list('')).map((source) => [source.id, source.origin]))
    expect([one, two, three].map(({ source }) => origins.get(source.id))).toEqual([
      ...['a.md', null, 'b.md'],
    ])
    expect((await upload(OLD, { origin: 'a.md' })).status).toBe(200)
  })

  test('a hash of other bytes, and an origin that is too long, are refused', async () => {
    const { upload, list } = await tenant()
    expect((await upload(OLD, { sha256: sha256Hex(NEW) })).status).toBe(400)
    expect((await upload(OLD, { sha256: 'no hash' })).status).toBe(400)
    expect((await upload(OLD, { origin: 'x'.repeat(401) })).status).toBe(400)
    expect(await list('')).toEqual([])
    const plain = await upload(OLD, {})
    expect(plain.source).toMatchObject({ origin: null, sha256: null })
    await app.jobs.idle()
  })

  test('sources are listed by how their origin begins, exactly', async () => {
    const { upload, list } = await tenant()
    for (const origin of ['a_b/1', 'aXb/2', 'A_B/3', '%/4']) {
      await upload(`# ${origin}\n\nText of ${origin}.`, { origin })
    }
    await upload(OLD, {})
    await app.jobs.idle()
    const origins = async (prefix: string) =>
      (await list(`?origin_prefix=${encodeURIComponent(prefix)}`)).map(({ origin }) => origin)
    expect(await origins('a_b/')).toEqual(['a_b/1'])
    expect(await origins('%')).toEqual(['%/4'])
    expect(await origins('none')).toEqual([])
    expect((await origins('')).toSorted()).toEqual(['%/4', 'A_B/3', 'aXb/2', 'a_b/1'])
  })
})
