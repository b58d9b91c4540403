import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DAY_MS } from '../../src/core/clock.ts'
import type { KbDoc } from '../../src/features/knowledge/model.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** How often a document was cited, in the list of documents. */

const clock = fakeClock()
let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const cited = async (call: Call) => {
  const { docs } = (await call<{ docs: KbDoc[] }>('GET', '/v1/kb/docs')).json()
  return Object.fromEntries(docs.map(({ title, cited_7d }) => [title, cited_7d]))
}

test('each turn that is shown a document counts, in the list of the last seven days', async () => {
  const key = await app.key('citing@example.com')
  const call = caller(app.url, key.headers)
  const other = caller(app.url, (await app.key('other@example.com')).headers)
  const ask = async (text: string, session_id: string) => {
    const stream = await postSse(`${app.url}/v1/agent`, {
      headers: key.headers,
      body: { text, session_id },
    })
    return (await stream.all()).map(({ data }) => data.type)
  }
  for (const one of [call, other]) {
    await one('POST', '/v1/kb/docs', {
      title: 'Returns',
      text: 'Goods may be returned within 14 days.',
    })
    await one('POST', '/v1/kb/docs', { title: 'Parking', text: 'The car park closes at 22:00.' })
  }
  expect(await cited(call)).toEqual({ Returns: 0, Parking: 0 })
  expect(await ask('Within how many days may goods be returned?', 'a')).toContain('kb_refs')
  expect(await cited(call)).toEqual({ Returns: 1, Parking: 0 })
  clock.advance(6 * DAY_MS)
  await ask('Within how many days may goods be returned?', 'b')
  await call('POST', '/v1/kb/search', { q: 'When does the car park close?' })
  expect(await cited(call)).toEqual({ Returns: 2, Parking: 0 })
  expect(await cited(other)).toEqual({ Returns: 0, Parking: 0 })
  clock.advance(DAY_MS)
  expect(await cited(call)).toEqual({ Returns: 1, Parking: 0 })
})
