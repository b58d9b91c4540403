import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { kbClient } from '../support/kb.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const RERANK_MS_MAX = 1_500

let upstream: Upstream
let app: TestApp
let key: TestKey
/** Whether a call of the reranker is over its time at once. */
let isLate = false
/** How far the steady clock is ahead. */
let steady = 0
const { add, search } = kbClient(() => app.url)

beforeAll(async () => {
  upstream = await startUpstream()
  const timers = systemClock()
  const waited = (ms: number) => (isLate && ms === RERANK_MS_MAX ? 0 : ms)
  app = await startApp({
    upstream: upstream.baseUrl,
    clock: {
      ...timers,
      steady: () => timers.steady() + steady,
      after: (ms, task) => timers.after(waited(ms), task),
    },
    env: {
      MB_RERANK_BASE_URL: upstream.baseUrl,
      MB_RERANK_API_KEY: 'rerank-key',
      MB_RERANK_MODEL: 'judge',
      MB_METRICS_TOKEN: 't',
    },
  })
  key = await app.key()
  for (const what of ['打印机', '咖啡机', '投影仪']) {
    await add(key, what, `${what}的保修期是两年，凭发票在前台办理。`)
  }
})
afterEach(() => {
  upstream.reset()
  isLate = false
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

interface Hit {
  title: string
  score: number
}
const hits = async () => (await search(key, '打印机的保修期多长？')).body.results as Hit[]
const rerankings = () => upstream.requests.filter(({ path }) => path === '/rerank')

test('the reranker puts a search in its order and leaves the scores', async () => {
  const found = await hits()
  expect(found.at(-1)?.title).toBe('打印机')
  expect(found.at(-1)?.score).toBe(Math.max(...found.map(({ score }) => score)))
  const [request] = rerankings()
  expect(request?.headers.authorization).toBe('Bearer rerank-key')
  expect<unknown>(request?.body).toEqual({
    model: 'judge',
    query: '打印机的保修期多长？',
    documents: expect.arrayContaining([expect.stringContaining('打印机')]),
    top_n: 3,
  })
})

test('the reranker puts the passages of a turn in its order', async () => {
  const { headers } = key
  // Asks for all three, so that the turn shows more than one.
  const body = { text: '打印机的保修期多长？咖啡机和投影仪的保修期呢？' }
  const events = await (await postSse(`${app.url}/v1/agent`, { headers, body })).all()
  const refs = events.find(({ data }) => data.type === 'kb_refs')?.data.refs as Hit[]
  expect(refs.length).toBeGreaterThan(1)
  expect(refs.at(-1)?.title).toBe('打印机')
})

test('at most twenty passages are sent to the reranker', async () => {
  const many = await app.key('many@example.com')
  const sections = Array.from(
    { length: 30 },
    (_, i) => `# 第${i}台打印机\n\n${'保修两年。'.repeat(20)}`,
  )
  await add(many, '手册', sections.join('\n\n'))
  expect((await search(many, '打印机保修')).body.results).toHaveLength(5)
  expect(rerankings().at(-1)?.body.documents).toHaveLength(20)
})

test('passages that the reranker leaves out follow in their own order', async () => {
  upstream.rerank.reply({ results: [{ index: 2, relevance_score: 0.9 }] })
  const [first, second] = await hits()
  expect(first?.title).not.toBe('打印机')
  expect(second?.title).toBe('打印机')
})

const wrong = [
  { index: 0, relevance_score: 'high' },
  { index: 3, relevance_score: 1 },
  { index: -1, relevance_score: 1 },
]
for (const result of wrong) {
  test(`a ranking with ${JSON.stringify(result)} is refused`, async () => {
    upstream.rerank.reply({ results: [{ index: 1, relevance_score: 1 }, result] })
    expect((await hits())[0]?.title).toBe('打印机')
  })
}

test('a search has its own order when the reranker fails or names a passage twice', async () => {
  upstream.rerank.reply({ results: Array(2).fill({ index: 1, relevance_score: 1 }) })
  expect((await hits())[0]?.title).toBe('打印机')
  for (const fault of [401, 500, 'html', 'redirect'] as const) {
    upstream.rerank.fault(fault)
    expect((await hits())[0]?.title).toBe('打印机')
  }
  const scrape = await fetch(`${app.url}/metrics`, { headers: { authorization: 'Bearer t' } })
  expect(await scrape.text()).toContain('upstream_failures_total{upstream="rerank"')
  expect(app.log()).toContain('reranking failed')
  expect(app.log()).not.toContain('保修期')
})

test('a search does not wait for a reranker that is silent', async () => {
  isLate = true
  upstream.rerank.fault('silent')
  expect((await hits())[0]?.title).toBe('打印机')
})

test('a dead reranker is skipped, and tried again after a while', async () => {
  upstream.rerank.alwaysFault(500)
  for (let i = 0; i < 10; i++) await hits()
  const before = rerankings().length
  expect((await hits())[0]?.title).toBe('打印机')
  expect(rerankings().length).toBe(before)
  steady += 15_000
  await hits()
  expect(rerankings().length).toBe(before + 1)
})

test('the status page shows the reranker that is configured', async () => {
  const report = await (await fetch(`${app.url}/status?format=json`)).json()
  expect(report.checks).toContainEqual(expect.objectContaining({ name: 'rerank', state: 'ok' }))
})
