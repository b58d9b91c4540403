import { afterAll, beforeAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { type EverydayBase, readEveryday } from '../support/everyday.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** Relevance was fitted on one half of the questions; both are asserted. */
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

interface Count {
  right: number
  asked: number
}
const share = ({ right, asked }: Count) => right / asked
const halves = (): [Count, Count] => [
  { right: 0, asked: 0 },
  { right: 0, asked: 0 },
]
function count(half: Count | undefined, isRight: boolean): void {
  if (!half) return
  half.asked++
  if (isRight) half.right++
}

test('everyday questions cite the right everyday document first, others cite nothing', async () => {
  const first = halves()
  const shown = halves()
  for (const language of ['zh', 'en'] as const) {
    const { bases, unanswerable } = readEveryday(language)
    let question = 0
    for (const base of bases) {
      const key = await tenantOf(base)
      for (const asked of base.asked) {
        const [title] = await cited(key, asked.question)
        count(first[question++ % 2], title === asked.title)
      }
      for (const [i, asked] of unanswerable.entries()) {
        count(shown[i % 2], (await cited(key, asked)).length > 0)
      }
    }
  }
  for (const half of first) expect(share(half)).toBeGreaterThanOrEqual(0.85)
  for (const half of shown) expect(share(half)).toBeLessThanOrEqual(0.25)
}, 120_000)
