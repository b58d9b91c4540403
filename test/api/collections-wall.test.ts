import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { ASK, collectionTenant, mcpCall, refsOf, TEXT } from '../support/collections.ts'
import { postSse } from '../support/sse.ts'
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

describe('the wall', () => {
  test('no route gives an app what lies outside its collections', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection, doc, appOf, turn, upload, email } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const mine = await doc('我的', `${TEXT}甲`, a)
    const theirs = await doc('别的', `${TEXT}乙 SECRETWORD`, b)
    const { id: source } = await upload('s.txt', `${TEXT} SECRETWORD`, { collection_id: b })
    const [part] = (await me<{ doc_ids: string[] }>('GET', `/kb/sources/${source}`)).json().doc_ids
    const { call, headers, id: appId } = await appOf([a])
    const lists = [
      await call('GET', '/kb/docs'),
      await call('GET', '/kb/sources'),
      await call('GET', '/kb/collections'),
      await call('POST', '/kb/search', { q: ASK }),
      await call('GET', '/kb/embedding'),
    ]
    for (const answer of lists) {
      expect(answer.status).toBe(200)
      for (const hidden of [theirs, b, source, part ?? '-', 'SECRETWORD', '别的']) {
        expect(answer.text).not.toContain(hidden)
      }
    }
    expect(lists[4]?.json().docs).toBe(1)
    expect(lists[3]?.text).toContain(mine)
    for (const path of ['/kb/docs', '/kb/sources']) {
      const [empty, absent] = await Promise.all([
        call('GET', `${path}?collection_id=`),
        call('GET', path),
      ])
      expect([empty.status, empty.text]).toEqual([200, absent.text])
    }
    for (const [method, path, body] of [
      ['GET', `/kb/docs/${theirs}/chunks`],
      ['DELETE', `/kb/docs/${theirs}`],
      ['PUT', `/kb/docs/${theirs}`, { collection_id: a }],
      ['GET', `/kb/docs/${part}/chunks`],
      ['DELETE', `/kb/docs/${part}`],
      ['GET', `/kb/sources/${source}`],
      ['PUT', `/kb/sources/${source}`, { collection_id: a }],
      ['DELETE', `/kb/sources/${source}`],
      ['POST', `/kb/sources/${source}/refresh`],
      ['GET', `/kb/docs?collection_id=${b}`],
      ['GET', `/kb/docs?collection_id=none`],
      ['GET', `/kb/sources?collection_id=${b}`],
      ['POST', '/kb/search', { q: ASK, collections: [b] }],
      ['POST', '/kb/docs', { title: 't', text: 't', collection_id: b }],
      ['PUT', `/kb/docs/${mine}`, { collection_id: b }],
    ] as const) {
      const answer = await call(method, path, body)
      const unknown = await call(
        method,
        path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, crypto.randomUUID()),
        body && JSON.parse(JSON.stringify(body).replaceAll(b, crypto.randomUUID())),
      )
      expect([method, path, answer.status]).toEqual([method, path, 404])
      expect([answer.text, answer.headers.get('x-error-code')]).toEqual([
        unknown.text,
        unknown.headers.get('x-error-code'),
      ])
    }
    for (const [tool, args] of [
      ['search_knowledge_base', { query: ASK, top_k: 10 }],
      ['search', { query: ASK }],
      ['list_documents', {}],
    ] as const) {
      const { isError, text } = await mcpCall(call, tool, args)
      expect([tool, isError, text.includes(mine), text.includes('SECRETWORD')]).toEqual([
        tool,
        false,
        true,
        false,
      ])
      expect(text).not.toContain(theirs)
    }
    const unknown = await mcpCall(call, 'read_document', { doc_id: 'nothing' })
    for (const [tool, args] of [
      ['read_document', { doc_id: theirs }],
      ['fetch', { id: `${theirs}#0` }],
    ] as const) {
      expect(await mcpCall(call, tool, args)).toEqual(unknown)
    }
    const noCollection = await mcpCall(call, 'list_documents', { collection: 'nothing' })
    expect(noCollection.isError).toBe(true)
    for (const hidden of ['乙', b, 'none']) {
      expect(await mcpCall(call, 'list_documents', { collection: hidden })).toEqual(noCollection)
      const asked = { query: ASK, collection: hidden }
      expect(await mcpCall(call, 'search_knowledge_base', asked)).toEqual(noCollection)
    }
    expect((await mcpCall(call, 'list_documents', { collection: '甲' })).text).toContain(mine)
    expect(refsOf(await turn(headers, { text: ASK }))).toEqual([mine])
    const chat = { messages: [{ role: 'user', content: ASK }] }
    const completion = await call('POST', '/chat/completions', chat)
    expect([completion.text.includes(mine), completion.text.includes(theirs)]).toEqual([
      true,
      false,
    ])
    const narrowed = await call('POST', '/chat/completions', { ...chat, collections: [b] })
    expect(narrowed.status).toBe(404)
    const store = (...ids: string[]) => ({
      input: ASK,
      tools: [{ type: 'file_search', vector_store_ids: ids }],
    })
    expect((await call('POST', '/responses', store('kb'))).text).toContain(mine)
    expect((await call('POST', '/responses', store(a))).text).toContain(mine)
    expect((await call('POST', '/responses', store(b))).status).toBe(404)
    const device = await me<{ id: string }>('POST', '/devices', { name: 'd', app_id: appId })
    const ofDevice = await app.key(email, { appId, deviceId: device.json().id })
    const spoken = caller(`${app.url}/v1`, ofDevice.headers)
    const found = await spoken('POST', '/kb/search', { q: ASK })
    expect([found.text.includes(mine), found.text.includes(theirs)]).toEqual([true, false])
    expect(refsOf(await turn(ofDevice.headers, { text: ASK }))).toEqual([mine])
    const share = await me<{ token: string }>('POST', `/apps/${appId}/shares`, { name: 's' })
    const visit = await postSse(`${app.url}/s/${share.json().token}`, {
      headers: {},
      body: { text: ASK },
    })
    const told = JSON.stringify(await visit.all())
    expect([told.includes('我的'), told.includes('别的')]).toEqual([true, false])
  })

  test('a list of nothing, or of what is gone, never becomes all', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection, doc, appOf, turn } = tenant
    const gone = await collection('旧')
    await doc('一', TEXT)
    const empty = await appOf([])
    const dangling = await appOf([gone])
    await me('DELETE', `/kb/collections/${gone}`)
    for (const { call, headers, id } of [empty, dangling]) {
      expect((await call('GET', '/kb/docs')).json()).toEqual({ docs: [] })
      expect((await call('POST', '/kb/search', { q: ASK })).json()).toEqual({ results: [] })
      expect(refsOf(await turn(headers, { text: ASK }))).toEqual([])
      const refused = await call('POST', '/kb/docs', { title: 't', text: 't' })
      expect([refused.status, refused.headers.get('x-error-code')]).toEqual([
        400,
        'collection_required',
      ])
      // A client that does not know the field opens no wall.
      const put = await me('PUT', `/apps/${id}`, { name: `renamed ${id}` })
      expect(put.json().collections).toEqual(id === empty.id ? [] : [gone])
    }
    const opened = await me('PUT', `/apps/${empty.id}`, { name: 'open', collections: null })
    expect(opened.json().collections).toBeNull()
    expect((await empty.call('POST', '/kb/search', { q: ASK })).text).toContain('一')
  })

  test('the best of what is seen are found beside many nearer documents', async () => {
    const tenant = await collectionTenant(app)
    const { collection, doc, appOf } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const mine: string[] = []
    for (let i = 0; i < 6; i++) mine.push(await doc(`手册 ${i}`, `第 ${i} 章讲登月舱。`, a))
    const { call } = await appOf([a])
    const q = { q: ASK }
    const before = (await call('POST', '/kb/search', q)).json()
    for (let i = 0; i < 40; i++) await doc(`近 ${i}`, `${ASK}${TEXT}${i}`, b)
    expect((await call('POST', '/kb/search', q)).json()).toEqual(before)
    expect((before.results as unknown[]).length).toBe(5)
  })

  test('a request narrows what is seen, and the tool of the model sees no more', async () => {
    const tenant = await collectionTenant(app)
    const { general, me, collection, doc, turn } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const inA = await doc('甲文', `${TEXT}甲`, a)
    const inB = await doc('乙文', `${TEXT}乙`, b)
    const { headers } = general
    expect(refsOf(await turn(headers, { text: ASK, collections: [a] }))).toEqual([inA])
    expect(refsOf(await turn(headers, { text: ASK, collections: [] }))).toEqual([])
    expect(refsOf(await turn(headers, { text: ASK, collections: null })).sort()).toEqual(
      [inA, inB].sort(),
    )
    upstream.reset()
    const call = { name: 'search_knowledge_base', arguments: { query: ASK } }
    upstream.chat.reply({ toolCalls: [call] })
    const events = await turn(headers, { text: ASK, collections: [a] })
    expect(JSON.stringify(upstream.requests)).not.toContain('乙文')
    expect(events.find(({ type }) => type === 'stats')?.kb).toMatchObject({ collections: [a] })
    for (const collections of ['x', [1], [''], Array(60).fill('none')]) {
      expect((await me('POST', '/agent', { text: ASK, collections })).status).toBe(400)
    }
    expect((await me('POST', '/agent', { text: ASK, collections: ['unknown'] })).status).toBe(404)
  })

  test('the setting of the tenant binds turns without an app, and not who manages', async () => {
    const tenant = await collectionTenant(app)
    const { general, me, collection, doc, appOf, turn, email } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const inA = await doc('甲文', `${TEXT}甲`, a)
    await doc('乙文', `${TEXT}乙`, b)
    const person = caller(`${app.url}/console`, (await app.person(email)).headers)
    expect((await person('PUT', '/settings', { collections: [a] })).json().collections).toEqual([a])
    expect((await person('PUT', '/settings', {})).json().collections).toEqual([a])
    expect(refsOf(await turn(general.headers, { text: ASK }))).toEqual([inA])
    expect((await me<{ docs: unknown[] }>('GET', '/kb/docs')).json().docs).toHaveLength(2)
    const all = await appOf(null)
    expect(refsOf(await turn(all.headers, { text: ASK }))).toHaveLength(2)
    expect((await me('POST', '/agent', { text: ASK, collections: [b] })).status).toBe(404)
  })

  test('a device whose app was deleted sees what turns without an app see', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection, doc, appOf, turn, email } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const inA = await doc('甲文', `${TEXT}甲`, a)
    await doc('乙文', `${TEXT}乙`, b)
    const person = caller(`${app.url}/console`, (await app.person(email)).headers)
    await person('PUT', '/settings', { collections: [a] })
    const { id: appId } = await appOf([b])
    const device = await me<{ id: string }>('POST', '/devices', { name: 'd', app_id: appId })
    const { headers } = await app.key(email, { appId, deviceId: device.json().id })
    await me('DELETE', `/apps/${appId}`)
    const spoken = caller(`${app.url}/v1`, headers)
    const found = await spoken('POST', '/kb/search', { q: ASK })
    expect([found.text.includes('甲文'), found.text.includes('乙文')]).toEqual([true, false])
    expect(refsOf(await turn(headers, { text: ASK }))).toEqual([inA])
  })

  test('a document that moves while others search is found on one side of the wall', async () => {
    const tenant = await collectionTenant(app)
    const { me, collection, doc, appOf } = tenant
    const [a, b] = [await collection('甲'), await collection('乙')]
    const id = await doc('会动的', TEXT, a)
    const [inA, inB] = [await appOf([a]), await appOf([b])]
    const sees = async ({ call }: typeof inA) =>
      (await call('POST', '/kb/search', { q: ASK })).text.includes(id)
    for (const to of [b, a, b]) {
      const searching = Promise.all([1, 2, 3, 4].map((n) => sees(n % 2 === 0 ? inA : inB)))
      expect((await me('PUT', `/kb/docs/${id}`, { collection_id: to })).status).toBe(200)
      // What begins after the move obeys it.
      expect([await sees(inA), await sees(inB)]).toEqual([to === a, to === b])
      await searching
    }
  })

  test.each([
    ['/ollama/api/chat', { model: 'moonbase', stream: false }],
    ['/v1/messages', { model: 'moonbase', max_tokens: 50 }],
  ])('what the model is given at %s keeps to the wall', async (path, fields) => {
    const { collection, doc, appOf } = await collectionTenant(app)
    const [a, b] = [await collection('甲'), await collection('乙')]
    await doc('甲文', `${TEXT}甲`, a)
    await doc('乙文', `${TEXT}乙`, b)
    const { headers } = await appOf([a])
    const answer = await fetch(app.url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...fields, messages: [{ role: 'user', content: ASK }] }),
    })
    await answer.text()
    const given = JSON.stringify(upstream.requests)
    expect([answer.status, given.includes('甲文'), given.includes('乙文')]).toEqual([
      200,
      true,
      false,
    ])
  })
})
