import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { KbDocResponse, KbSearchHit } from '../../src/features/knowledge/model.ts'
import type { Source } from '../../src/features/knowledge/sources/model.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { collectionTenant } from '../support/collections.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { longText, oneAxisEmbedder, sourcesClient } from '../support/sources.ts'

/** Documents, files and pages that are given another title. */

const held = oneAxisEmbedder()
let app: TestApp
let slow: TestApp
beforeAll(async () => {
  app = await startApp({ env: { MB_KB_MAX_DOC_KB: '2' } })
  slow = await startApp({ embedder: held.embedder })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await slow[Symbol.asyncDispose]()
})

const { ingest, call, docs, idle, upload, get } = sourcesClient(() => app)
let tenants = 0
const newKey = () => app.key(`renaming${++tenants}@example.com`)

async function titlesOf(key: Awaited<ReturnType<typeof newKey>>): Promise<string[]> {
  const found = (await docs(key)) as { title: string }[]
  return found.map(({ title }) => title)
}

describe('a renamed document', () => {
  test('has its title wherever it is shown, and is found by its words alone', async () => {
    const key = await newKey()
    const body = { title: 'Zeppelin', text: 'It takes two years, and then it is over.' }
    const { id } = (await call(key, 'POST', '/docs', body)).body
    await call(key, 'POST', '/docs', { title: 'Other', text: 'The canteen opens at noon.' })
    const first = async (q: string): Promise<KbSearchHit> =>
      (await call(key, 'POST', '/search', { q })).body.results[0]
    const before = await first('zeppelin')
    expect(before.title).toBe('Zeppelin')

    const renamed = await call(key, 'PUT', `/docs/${id}`, { title: '  Warranty of kettles ' })
    expect([renamed.status, renamed.body.title]).toEqual([200, 'Warranty of kettles'])
    await idle()
    expect((await call(key, 'GET', '/embedding')).body).toEqual({ docs: 2, waiting: 0 })
    const after = await first('warranty of kettles')
    expect(after).toMatchObject({ doc_id: id, title: 'Warranty of kettles' })
    const old = (
      (await call(key, 'POST', '/search', { q: 'zeppelin' })).body.results as KbSearchHit[]
    ).find(({ doc_id }) => doc_id === id)
    expect(old?.score ?? 0).toBeLessThan(before.score)
    expect((await call(key, 'GET', `/docs/${id}`)).body.title).toBe('Warranty of kettles')
  })

  test('moves at once where both are asked for, and keeps what is not named', async () => {
    const tenant = await collectionTenant(app)
    const red = await tenant.collection('red')
    const id = await tenant.doc('Old', 'The text of it.')
    const both = await tenant.me<KbDocResponse>('PUT', `/kb/docs/${id}`, {
      title: 'New',
      collection_id: red,
    })
    expect(both.json()).toMatchObject({ title: 'New', collection_id: red })
    const title = await tenant.me<KbDocResponse>('PUT', `/kb/docs/${id}`, { title: 'Newer' })
    expect(title.json()).toMatchObject({ title: 'Newer', collection_id: red })
  })

  test('by two at once has one of the titles, in the list and in both indexes', async () => {
    const key = await newKey()
    const { id } = (await call(key, 'POST', '/docs', { title: 'Start', text: 'Some words.' })).body
    const titles = ['Aardvark', 'Buffalo', 'Crocodile', 'Dromedary']
    await Promise.all(titles.map((title) => call(key, 'PUT', `/docs/${id}`, { title })))
    await idle()
    const [title = ''] = await titlesOf(key)
    expect(titles).toContain(title)
    const { results } = (await call(key, 'POST', '/search', { q: title })).body
    expect(results[0]).toMatchObject({ doc_id: id, title, shown: true })
  })

  test('is refused without a title, too long, of a part, and where it is not seen', async () => {
    const key = await newKey()
    const source = await ingest(key, longText(2), { name: 'Rules.md' })
    const [part] = source.doc_ids
    expect((await call(key, 'PUT', `/docs/${part}`, { title: 'No' })).status).toBe(400)
    expect(await titlesOf(key)).toEqual(['Rules (1/2)', 'Rules (2/2)'])
    const { id } = (await call(key, 'POST', '/docs', { title: 'Mine', text: 'Words.' })).body
    for (const title of [' ', 'x'.repeat(201), 7, null]) {
      expect((await call(key, 'PUT', `/docs/${id}`, { title })).status).toBe(400)
    }
    for (const title of [' ', 'x'.repeat(181)]) {
      expect((await call(key, 'PUT', `/sources/${source.id}`, { title })).status).toBe(400)
    }
    const foreign = await newKey()
    expect((await call(foreign, 'PUT', `/docs/${id}`, { title: 'Theirs' })).status).toBe(404)
    expect((await call(foreign, 'PUT', `/sources/${source.id}`, { title: 'No' })).status).toBe(404)
    expect(await titlesOf(key)).toContain('Mine')
  })

  test('behind the wall of an app is as an unknown one', async () => {
    const tenant = await collectionTenant(app)
    const [red, blue] = [await tenant.collection('red'), await tenant.collection('blue')]
    const id = await tenant.doc('Hidden', 'The text.', blue)
    const file = await tenant.upload('Hidden.txt', 'The text.', { collection_id: blue })
    const { call: asApp } = await tenant.appOf([red])
    const unknown = await asApp('PUT', '/kb/docs/nobody', { title: 'Seen' })
    const hidden = await asApp('PUT', `/kb/docs/${id}`, { title: 'Seen' })
    expect([hidden.status, hidden.text]).toEqual([404, unknown.text])
    expect((await asApp('PUT', `/kb/sources/${file.id}`, { title: 'Seen' })).status).toBe(404)
    expect((await asApp('GET', `/kb/docs/${id}`)).status).toBe(404)
    const doc = (await tenant.me<KbDocResponse>('GET', `/kb/docs/${id}`)).json()
    expect(doc.title).toBe('Hidden')
  })
})

test('a document renamed while it is indexed is indexed under its last title', async () => {
  const client = sourcesClient(() => slow)
  const key = await slow.key('again@example.com')
  const add = async (title: string): Promise<string> =>
    (await client.call(key, 'POST', '/docs', { title, text: 'The same words.' })).body.id
  const [id, other] = [await add('First'), await add('Other')]
  const release = held.hold('HOLD')
  await client.call(key, 'PUT', `/docs/${id}`, { title: 'HOLD' })
  await held.reached()
  await client.call(key, 'PUT', `/docs/${id}`, { title: 'Zebra' })
  release()
  await client.idle()
  expect((await client.call(key, 'GET', '/embedding')).body.waiting).toBe(0)
  const hits = (await client.search(key, 'zebra')) as KbSearchHit[]
  const relevanceOf = (doc: string) => hits.find(({ doc_id }) => doc_id === doc)?.relevance
  expect(relevanceOf(id)).toBeGreaterThan(relevanceOf(other) ?? 1)
})

test('a document that is given the title that it has is not indexed anew', async () => {
  const client = sourcesClient(() => slow)
  const key = await slow.key('same@example.com')
  const { body } = await client.call(key, 'POST', '/docs', { title: 'Same', text: 'Words.' })
  const before = held.calls()
  const named = await client.call(key, 'PUT', `/docs/${body.id}`, { title: ' Same ' })
  expect([named.status, named.body.title]).toEqual([200, 'Same'])
  await client.idle()
  expect(held.calls()).toBe(before)
})

describe('a renamed file', () => {
  test('names its parts, and keeps the title through a new version', async () => {
    const key = await newKey()
    const source = await ingest(key, longText(2), { name: 'Rules.md' })
    const renamed = await call(key, 'PUT', `/sources/${source.id}`, { title: 'House rules' })
    expect([renamed.status, renamed.body.title]).toEqual([200, 'House rules'])
    expect(await titlesOf(key)).toEqual(['House rules (1/2)', 'House rules (2/2)'])

    const { headers } = key
    const send = async (text: string) => {
      const form = new FormData()
      form.set('origin', 'rules.md')
      form.set('file', new File([text], 'rules.md'))
      const answer = await fetch(`${app.url}/v1/kb/files`, { method: 'POST', headers, body: form })
      await idle()
      return (await answer.json()) as Source
    }
    const { id } = await send('The first version.')
    await caller(`${app.url}/v1`, headers)('PUT', `/kb/sources/${id}`, { title: 'Named' })
    await idle()
    await send('The second version.')
    expect(await get(key, id)).toMatchObject({ title: 'Named', state: 'ready' })
    expect(await titlesOf(key)).toContain('Named')
    const { results } = (await call(key, 'POST', '/search', { q: 'second version' })).body
    expect(results[0]).toMatchObject({ title: 'Named', text: 'The second version.' })
  })

  test('while it is being read is ready with the new title', async () => {
    const client = sourcesClient(() => slow)
    const key = await slow.key('slow@example.com')
    const release = held.hold('HOLD')
    const { body } = await client.upload(key, 'HOLD this text.', { name: 'Before.txt' })
    await held.reached()
    const renamed = await client.call(key, 'PUT', `/sources/${body.id}`, { title: 'After' })
    expect(renamed.body.title).toBe('After')
    release()
    await client.idle()
    expect(await client.get(key, body.id)).toMatchObject({ title: 'After', state: 'ready' })
    expect(await client.docs(key)).toMatchObject([{ title: 'After' }])
  })
})

test('a document tells at which passages its pages begin', async () => {
  const key = await newKey()
  const pdf = pdfFile([
    { lines: ['The doors open at nine.'] },
    { lines: ['Parcels leave on Tuesdays.'] },
  ])
  const { doc_ids } = await ingest(key, pdf, { name: 'House.pdf' })
  const doc = (await call(key, 'GET', `/docs/${doc_ids[0]}`)).body as KbDocResponse
  expect(doc.pages).toEqual([
    { page: 1, seq: 0 },
    { page: 2, seq: 1 },
  ])
  expect(doc).toMatchObject({ title: 'House', part: 1, parts: 1, cited_7d: 0 })
  const { body } = await upload(key, 'Plain words.', { name: 'plain.txt' })
  await idle()
  const [plain] = (await get(key, body.id)).doc_ids
  expect((await call(key, 'GET', `/docs/${plain}`)).body.pages).toEqual([])
})
