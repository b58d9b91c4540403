import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { kbClient } from '../support/kb.ts'
import { autoClient, type McpConnection, oldClient, pinnedClient } from '../support/mcp-clients.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock()
let upstream: Upstream
let app: TestApp
let keys: Record<'general' | 'app' | 'device' | 'other', TestKey>
let doc: { id: string }
let long: { id: string }
const kb = kbClient(() => app.url)

const TEXT = '退货期限是三十天，从收货的第二天算起。'
const LONG = '火星上的重力是地球的百分之三十八。'.repeat(120)

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    ...{ upstream: upstream.baseUrl, clock },
    env: { MB_PUBLIC_URL: 'https://box.example/moon/' },
  })
  const general = await app.key()
  const console = caller(`${app.url}/console`, (await app.person()).headers)
  const { id: appId } = (await console<{ id: string }>('POST', '/apps', { name: 'a' })).json()
  keys = {
    general,
    app: await app.key('a@example.com', { appId }),
    device: await app.key('a@example.com', { deviceId: 'd' }),
    other: await app.key('b@example.com'),
  }
  doc = (await kb.add(general, '手册', TEXT)).body
  long = (await kb.add(general, '火星', LONG)).body
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const CLIENTS = [
  ['the client 2.x', autoClient, '2026-07-28'],
  ['the client 2.x at a revision of 2025', pinnedClient, '2025-06-18'],
  ['the client 1.x', oldClient, '2025-11-25'],
] as const

const names = ({ tools }: McpConnection) => tools.map(({ name }) => name)
const ALL = [
  'search_knowledge_base',
  'read_document',
  'list_documents',
  'ask_agent',
  'search',
  'fetch',
]

describe.each(CLIENTS)('%s', (_, open, revision) => {
  const connect = ({ headers }: TestKey) => open({ url: app.url, headers })

  test('a client lists and calls every tool with a general key', async () => {
    await using client = await connect(keys.general)
    expect(client.revision).toBe(revision)
    expect(names(client)).toEqual(ALL)

    const found = await client.call('search_knowledge_base', { query: '退货期限', top_k: 2 })
    const { results } = found.structuredContent as { results: Record<string, unknown>[] }
    expect(results).toHaveLength(2)
    expect(results[0]).toEqual({
      doc_id: doc.id,
      title: '手册',
      seq: 0,
      score: expect.any(Number),
      collection_id: null,
      text: TEXT,
      page: null,
      heading: null,
      url: null,
    })
    expect(JSON.parse(found.content[0]?.text ?? '')).toEqual({ results })

    const read = await client.call('read_document', { doc_id: doc.id, count: 1 })
    expect(read.structuredContent).toEqual({
      title: '手册',
      chunks: [{ seq: 0, text: TEXT }],
      next_seq: null,
    })
    const listed = await client.call('list_documents')
    expect(listed.structuredContent).toEqual((await kb.call(keys.general, 'GET', '/docs')).body)

    const searched = await client.call('search', { query: '退货期限' })
    expect(searched.structuredContent).toBeUndefined()
    const hit = JSON.parse(searched.content[0]?.text ?? '').results[0]
    expect(hit).toEqual({
      id: `${doc.id}#0`,
      title: '手册',
      url: `https://box.example/moon/app/kb/${doc.id}#0`,
      text: TEXT,
    })
    const fetched = await client.call('fetch', { id: hit.id })
    expect(JSON.parse(fetched.content[0]?.text ?? '')).toEqual({
      ...hit,
      metadata: { doc_id: doc.id, seq: 0 },
    })

    upstream.reply({ text: '三十天。' })
    const asked = await client.call('ask_agent', { text: '退货期限是多久？', session_id: 's' })
    expect(asked.content).toEqual([{ type: 'text', text: '三十天。' }])
    expect(asked.structuredContent).toMatchObject({
      reply: '三十天。',
      kb_refs: [{ doc_id: doc.id, seq: 0 }],
      channel: 'platform',
    })
  })

  test('a client with an app key lists every tool', async () => {
    await using client = await connect(keys.app)
    expect(names(client)).toEqual(ALL)
  })

  test('a client with a device key lists and calls what a device may', async () => {
    await using client = await connect(keys.device)
    expect(names(client)).toEqual(['search_knowledge_base', 'ask_agent', 'search'])
    const refused = { content: [{ type: 'text', text: '设备密钥无权调用此接口' }], isError: true }
    expect(await client.call('list_documents')).toMatchObject(refused)
    expect(await client.call('fetch', { id: doc.id })).toMatchObject(refused)
  })

  test('a client with a revoked key gets 401', async () => {
    const revoked = await app.key()
    const console = caller(`${app.url}/console`, (await app.person()).headers)
    expect((await console('DELETE', `/keys/${revoked.id}`)).status).toBe(200)
    await expect(connect(revoked)).rejects.toThrow()
  })

  test("a document of another tenant is as unknown as one that isn't there", async () => {
    await using client = await connect(keys.other)
    const unknown = { content: [{ type: 'text', text: '文档不存在' }], isError: true }
    for (const id of [doc.id, 'none']) {
      expect(await client.call('read_document', { doc_id: id })).toMatchObject(unknown)
      expect(await client.call('fetch', { id: `${id}#0` })).toMatchObject(unknown)
    }
    const found = await client.call('search_knowledge_base', { query: '退货期限' })
    expect(found.structuredContent).toEqual({ results: [] })
  })

  test('a tool refuses bad arguments in Chinese', async () => {
    await using client = await connect(keys.general)
    const texts = []
    for (const args of [{}, { query: ' ' }, { query: 1 }, { query: 'a', top_k: 11 }]) {
      const { isError, content } = await client.call('search_knowledge_base', args)
      expect(isError).toBe(true)
      texts.push(content[0]?.text)
    }
    expect(texts).toEqual([
      '字段 query 必填，应为字符串',
      'query 不能为空',
      '字段 query 必填，应为字符串',
      '字段 top_k 超出上限 10',
    ])
  })
})

const connect = ({ headers }: TestKey) => autoClient({ url: app.url, headers })

test('an MCP hit has its whole passage', async () => {
  await using client = await connect(keys.general)
  const { structuredContent } = await client.call('search_knowledge_base', { query: '火星' })
  const { results } = structuredContent as { results: { text: string }[] }
  expect(results[0]?.text.length).toBeGreaterThan(400)
})

test('a document is read to its end and no further', async () => {
  await using client = await connect(keys.general)
  const seen: number[] = []
  let from: number | null = 0
  while (from !== null) {
    const args = { doc_id: long.id, from_seq: from, count: 2 }
    const { structuredContent } = await client.call('read_document', args)
    const part = structuredContent as { chunks: { seq: number }[]; next_seq: number | null }
    seen.push(...part.chunks.map(({ seq }) => seq))
    from = part.next_seq
  }
  expect(seen.length).toBeGreaterThan(3)
  expect(seen).toEqual(seen.map((_, i) => i))
  const past = await client.call('read_document', { doc_id: long.id, from_seq: 1_000 })
  expect(past.structuredContent).toEqual({ title: '火星', chunks: [], next_seq: null })
  const whole = JSON.parse((await client.call('fetch', { id: long.id })).content[0]?.text ?? '')
  expect(whole.text.length).toBeGreaterThan(1_000)
})

test('an app without the knowledge base finds nothing, without an error', async () => {
  const console = caller(`${app.url}/console`, (await app.person()).headers)
  const made = await console<{ id: string }>('POST', '/apps', { name: 'b', kb_enabled: false })
  await using client = await connect(await app.key('a@example.com', { appId: made.json().id }))
  const found = await client.call('search_knowledge_base', { query: '退货期限' })
  expect(found).toMatchObject({ structuredContent: { results: [] } })
  expect(found.isError).toBeUndefined()
  const searched = await client.call('search', { query: '退货期限' })
  expect(searched.content[0]?.text).toBe('{"results":[]}')
})

test('every tool but ask_agent says that it only reads', async () => {
  await using client = await connect(keys.general)
  const readers = client.tools.filter(
    ({ annotations }) => (annotations as { readOnlyHint: boolean }).readOnlyHint,
  )
  expect(readers.map(({ name }) => name)).toEqual(ALL.filter((name) => name !== 'ask_agent'))
})
