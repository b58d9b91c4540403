import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { ASK, collectionTenant, type Named, TEXT } from '../support/collections.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

describe('collections', () => {
  test('are made, renamed, counted and deleted, by their names', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection, doc } = tenant
    const made = await me('POST', '/kb/collections', { name: ' 手册 ', description: ' ' })
    expect([made.status, made.json()]).toEqual([
      201,
      {
        ...{ id: expect.any(String), name: '手册', description: null },
        ...{ doc_count: 0, source_count: 0, created_at: expect.any(String) },
      },
    ])
    const id = made.json().id as string
    const taken = await me('POST', '/kb/collections', { name: '手册' })
    expect([taken.status, taken.headers.get('x-error-code')]).toEqual([400, 'name_taken'])
    for (const name of ['none', '', 'x'.repeat(61), 7]) {
      expect((await me('POST', '/kb/collections', { name })).status).toBe(400)
    }
    await doc('一', TEXT, id)
    const renamed = await me('PUT', `/kb/collections/${id}`, { name: '书', description: '说明' })
    expect(renamed.json()).toMatchObject({ name: '书', description: '说明', doc_count: 1 })
    const other = await collection('另一个')
    expect((await me('PUT', `/kb/collections/${other}`, { name: '书' })).status).toBe(400)
    const { collections } = (await me<{ collections: Named[] }>('GET', '/kb/collections')).json()
    expect(collections.map((one) => one.id)).toEqual([other, id])
    expect((await me('DELETE', `/kb/collections/${id}?docs=maybe`)).status).toBe(400)
    expect((await me('DELETE', `/kb/collections/${id}`)).json()).toEqual({ id, deleted: true })
    expect((await me('DELETE', `/kb/collections/${id}`)).status).toBe(404)
    const { docs } = (await me<{ docs: { collection_id: null }[] }>('GET', '/kb/docs')).json()
    expect(docs.map((one) => one.collection_id)).toEqual([null])
    // The name is free again, for another collection.
    expect(await collection('书')).not.toBe(id)
  })

  test('are at most fifty', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection } = tenant
    for (let i = 0; i < 50; i++) await collection(`c${i}`)
    const refused = await me('POST', '/kb/collections', { name: 'c50' })
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([
      403,
      'quota_collections',
    ])
  })

  test('deleted with docs=delete take their documents and sources along', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection, doc, upload } = tenant
    const id = await collection('手册')
    await doc('一', TEXT, id)
    const kept = await doc('二', TEXT)
    await upload('a.txt', TEXT, { collection_id: id })
    await me('DELETE', `/kb/collections/${id}?docs=delete`)
    const { docs } = (await me<{ docs: Named[] }>('GET', '/kb/docs')).json()
    expect(docs.map((one) => one.id)).toEqual([kept])
    expect((await me('GET', '/kb/sources')).json()).toEqual({ sources: [] })
    await app.jobs.idle()
    const found = await me<{ results: { doc_id: string }[] }>('POST', '/kb/search', { q: ASK })
    expect(found.json().results.map(({ doc_id }) => doc_id)).toEqual([kept])
  })

  test('what is moved is seen elsewhere at once, and is not embedded anew', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection, doc, appOf, upload } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const id = await doc('一', TEXT, b)
    const file = await upload('s.txt', `${TEXT} 附件`, { collection_id: b })
    const { call } = await appOf([a])
    const asked = upstream.requests.length
    const moved = await me('PUT', `/kb/docs/${id}`, { collection_id: a })
    expect(moved.json()).toMatchObject({ id, title: '一', collection_id: a, cited_7d: 0 })
    const source = await me('PUT', `/kb/sources/${file.id}`, { collection_id: a })
    expect(source.json()).toMatchObject({ id: file.id, collection_id: a })
    const unchanged = await me('PUT', `/kb/sources/${file.id}`, {})
    expect(unchanged.json()).toMatchObject({ id: file.id, collection_id: a })
    const seen = (await call<{ docs: unknown[] }>('GET', '/kb/docs')).json().docs
    expect(seen).toHaveLength(2)
    const found = (await call<{ results: unknown[] }>('POST', '/kb/search', { q: ASK })).json()
    expect(found.results).toHaveLength(2)
    expect(upstream.requests.length).toBe(asked)
    const [part] = (await me<{ doc_ids: string[] }>('GET', `/kb/sources/${file.id}`)).json().doc_ids
    expect((await me('PUT', `/kb/docs/${part}`, { collection_id: b })).status).toBe(400)
    for (const to of ['none', null]) {
      expect((await me('PUT', `/kb/docs/${id}`, { collection_id: to })).json()).toMatchObject({
        collection_id: null,
      })
      await me('PUT', `/kb/docs/${id}`, { collection_id: a })
    }
    expect((await me('PUT', `/kb/docs/${id}`, { collection_id: 7 })).status).toBe(400)
    expect((await me('PUT', `/kb/docs/${id}`, { collection_id: crypto.randomUUID() })).status).toBe(
      404,
    )
    expect((await me('PUT', `/kb/docs/${id}`, {})).json()).toMatchObject({ collection_id: a })
  })

  test('an app writes into its collection, and says which where it has several', async () => {
    const tenant = await collectionTenant(app)
    const { collection, appOf, upload } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const one = await appOf([a])
    const made = await one.call('POST', '/kb/docs', { title: 't', text: TEXT })
    expect([made.status, made.json().collection_id]).toEqual([201, a])
    const two = await appOf([a, 'none'])
    const refused = await two.call('POST', '/kb/docs', { title: 't', text: TEXT })
    expect(refused.headers.get('x-error-code')).toBe('collection_required')
    const form = await upload('x.txt', TEXT, { collection_id: '' }, two.headers)
    expect(form.status).toBe(400)
    const free = { title: 't', text: TEXT, collection_id: 'none' }
    expect((await two.call('POST', '/kb/docs', free)).json().collection_id).toBeNull()
    expect((await upload('x.txt', TEXT, { collection_id: b }, two.headers)).status).toBe(404)
    expect((await upload('x.txt', TEXT, { collection_id: a }, two.headers)).collection_id).toBe(a)
    const all = await appOf(null)
    const plain = await all.call('POST', '/kb/docs', { title: 't', text: TEXT })
    expect(plain.json().collection_id).toBeNull()
  })
})

test('an export names collections, and an import finds them by their names', async () => {
  const tenant = await collectionTenant(app)
  const { me, collection, doc, appOf, upload } = tenant
  const [a, gone] = [await collection('甲'), await collection('旧')]
  await doc('甲文', TEXT, a)
  await upload('s.txt', `${TEXT} 附件`, { collection_id: a })
  await doc('旁', TEXT)
  const { id } = await appOf([a, gone, 'none'])
  await me('DELETE', `/kb/collections/${gone}`)
  const exported = (
    await me<{ apps: { collections: string[] }[]; documents: { collection: string }[] }>(
      'GET',
      '/export?kb=1',
    )
  ).json()
  expect(exported).toMatchObject({ collections: [{ name: '甲', description: null }] })
  expect(exported.apps[0]?.collections).toEqual(['甲', '旧', 'none'])
  expect(exported.documents.map(({ collection: name }) => name)).toEqual([
    '甲',
    '甲',
    null as never,
  ])
  expect((await me('GET', `/apps/${id}`)).json().collections).toEqual([a, gone, 'none'])
  const other = await collectionTenant(app)
  const result = (
    await other.me<{ imported: object; errors: string[] }>('POST', '/import?kb=1', exported)
  ).json()
  expect(result).toMatchObject({ imported: { collections: 1, apps: 1, documents: 3 }, errors: [] })
  const [made] = (await other.me<{ collections: Named[] }>('GET', '/kb/collections')).json()
    .collections
  expect(made).toMatchObject({ name: '甲', doc_count: 2, source_count: 1 })
  const { apps } = (await other.me<{ apps: { collections: string[] }[] }>('GET', '/apps')).json()
  expect(apps[0]?.collections).toEqual([made?.id ?? '', '旧', 'none'])
  const wrong = { format_version: 1, apps: [{ name: 'x', collections: 'all' }] }
  const refused = (
    await other.me<{ imported: { apps: number }; errors: string[] }>('POST', '/import', {
      config: wrong,
    })
  ).json()
  expect([refused.imported.apps, refused.errors.length]).toEqual([0, 1])
})
