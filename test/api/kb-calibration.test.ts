import { afterAll, beforeAll, expect, test } from 'bun:test'
import { normalize } from '../../src/core/vector.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { hashVector } from '../support/upstream-embeddings.ts'

/** Questions, and the passage whose vector is theirs though they share no word with it. */
const ASKED: Readonly<Record<string, string>> = { 修理: '主题7', 退款: '主题12' }

/** All its vectors are near to each other, as those of many models are: from 0.85 to 0.95. */
const narrow: Embedder = {
  id: 'narrow',
  async embed(texts) {
    return texts.map((text) => {
      const topic = ASKED[text] ?? /主题\d+/.exec(text)?.[0] ?? text
      return normalize(Float32Array.of(3, ...hashVector(topic, 64)))
    })
  },
  close: async () => {},
}

let app: TestApp
let key: TestKey
beforeAll(async () => {
  app = await startApp({ embedder: narrow })
  key = await app.key()
  const call = caller(`${app.url}/v1`, key.headers)
  for (let i = 0; i < 25; i++) {
    const doc = { title: `文档${i}`, text: `主题${i}的说明。` }
    expect((await call('POST', '/kb/docs', doc)).status).toBe(201)
  }
})
afterAll(() => app[Symbol.asyncDispose]())

async function shown(text: string): Promise<string[]> {
  const { headers } = key
  const stream = await postSse(`${app.url}/v1/agent`, { headers, body: { text } })
  const refs = (await stream.all()).find(({ data }) => data.type === 'kb_refs')?.data.refs
  return ((refs ?? []) as { title: string }[]).map(({ title }) => title)
}

test('a model whose cosines are all high shows the right passage alone', async () => {
  expect(await shown('修理')).toEqual(['文档7'])
  expect(await shown('退款')).toEqual(['文档12'])
})

test('a model whose cosines are all high shows nothing when nothing fits', async () => {
  expect(await shown('天气')).toEqual([])
})
