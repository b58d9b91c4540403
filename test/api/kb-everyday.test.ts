import { afterAll, beforeAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { type EverydayBase, readEveryday } from '../support/everyday.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** Relevance was fitted on these questions and on others. */
let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function tenantOf({ name, docs }: EverydayBase): Promise<TestKey> {
  const key = await app.key(`${Bun.hash(name)}@example.com`)
  const call = caller(`${app.url}/v1`, key.headers)
  for (const doc of docs) expect((await call('POST', '/kb/docs', doc)).status).toBe(201)
  return key
}

/** The titles of what a turn cites, the most relevant first. */
async function cited({ headers }: TestKey, text: string): Promise<string[]> {
  const body = { text, session_id: crypto.randomUUID() }
  const stream = await postSse(`${app.url}/v1/agent`, { headers, body })
  const refs = (await stream.all()).find(({ data }) => data.type === 'kb_refs')?.data.refs
  return ((refs ?? []) as { title: string }[]).map(({ title }) => title)
}

/** How often something was so, of how many times. */
const counted = () => ({ right: 0, asked: 0 })
function count(sum: ReturnType<typeof counted>, isRight: boolean): void {
  sum.asked++
  if (isRight) sum.right++
}
const share = (...sums: ReturnType<typeof counted>[]) =>
  sums.reduce((all, { right }) => all + right, 0) / sums.reduce((all, { asked }) => all + asked, 0)

/** Asks all questions of some documents, and those that no document answers. */
async function ask(base: EverydayBase, unanswerable: readonly string[]) {
  const key = await tenantOf(base)
  const found = { same: counted(), across: counted(), none: counted() }
  for (const { question, title, isAcross } of base.asked) {
    const [first] = await cited(key, question)
    count(isAcross ? found.across : found.same, first === title)
  }
  for (const question of unanswerable) count(found.none, (await cited(key, question)).length > 0)
  return found
}

const sets = { zh: readEveryday('zh'), en: readEveryday('en') }

/** All documents of a set as those of one owner. */
const joined = (name: string, bases: readonly EverydayBase[]): EverydayBase => ({
  name,
  docs: bases.flatMap(({ docs }) => docs),
  asked: bases.flatMap(({ asked }) => asked),
})

test('the everyday set is large: across languages and without an answer, too', () => {
  const asked = Object.values(sets).flatMap(({ bases }) => bases.flatMap((base) => base.asked))
  const unanswerable = Object.values(sets).flatMap((set) => set.unanswerable)
  expect(asked.length + unanswerable.length).toBeGreaterThanOrEqual(240)
  expect(unanswerable.length).toBeGreaterThanOrEqual(60)
  expect(asked.filter(({ isAcross }) => isAcross).length).toBeGreaterThanOrEqual(40)
})

test('everyday questions cite the right everyday document first, others cite nothing', async () => {
  const all = []
  for (const { bases, unanswerable } of Object.values(sets)) {
    // Every base is asked a third of them, for each is a turn.
    for (const [at, base] of bases.entries()) {
      all.push(
        await ask(
          base,
          unanswerable.filter((_, i) => i % 3 === at % 3),
        ),
      )
    }
  }
  const same = all.map((one) => one.same)
  const across = all.map((one) => one.across)
  expect(share(...same, ...across)).toBeGreaterThanOrEqual(0.9)
  expect(share(...across)).toBeGreaterThanOrEqual(0.75)
  expect(share(...all.map(({ none }) => none))).toBeLessThanOrEqual(0.2)
}, 240_000)

test('a tenant with all of these documents in two languages gets silence, too', async () => {
  const bases = [...sets.zh.bases, ...sets.en.bases]
  const unanswerable = [...sets.zh.unanswerable, ...sets.en.unanswerable]
  const { same, across, none } = await ask(joined('both', bases), unanswerable)
  expect(share(same)).toBeGreaterThanOrEqual(0.75)
  expect(share(across)).toBeGreaterThanOrEqual(0.5)
  expect(share(none)).toBeLessThanOrEqual(0.22)
}, 240_000)

test('a search names the sentence that decided, also across languages', async () => {
  const key = await app.key('sentence@example.com')
  const call = caller(`${app.url}/v1`, key.headers)
  const text =
    'The shop is open from nine to six. You may return goods within 30 days. We accept cards.'
  expect((await call('POST', '/kb/docs', { title: 'Shop', text })).status).toBe(201)
  for (const q of ['Within how many days may I return goods?', '多少天内可以退货？']) {
    const { results } = (await call('POST', '/kb/search', { q })).json()
    const [hit] = results as { sentence: string; relevance: number }[]
    expect(hit?.sentence).toBe('You may return goods within 30 days.')
    expect(hit?.relevance).toBeGreaterThan(0)
    expect(hit?.relevance).toBeLessThanOrEqual(1)
  }
})

test('a passage with the Chinese name of an English question is the most relevant', async () => {
  const docs = [
    { title: '采购', text: '采购由杨昊负责，办公室在三楼，电话 1234。' },
    { title: '仓库', text: '仓库由杨洁负责，办公室在一楼，电话 5678。' },
    { title: '食堂', text: '食堂由杨硕负责，办公室在二楼，电话 9012。' },
  ]
  const { headers } = await tenantOf({ name: 'names', docs, asked: [] })
  const call = caller(`${app.url}/v1`, headers)
  const names = { 'Yang Hao': '采购', 'Yang Jie': '仓库', 'Yang Shuo': '食堂' }
  for (const [name, title] of Object.entries(names)) {
    const q = `What is the phone number of ${name}?`
    const { results } = (await call('POST', '/kb/search', { q })).json()
    const found = results as { title: string; relevance: number }[]
    const [first] = found.toSorted((a, b) => b.relevance - a.relevance)
    expect([name, first?.title]).toEqual([name, title])
  }
})
