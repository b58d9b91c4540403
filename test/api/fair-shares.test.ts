import { afterAll, expect, test } from 'bun:test'
import type { Embedder } from '../../src/channels/ports/embedder.ts'
import {
  KB_SEARCHES_PER_TENANT_MAX,
  KB_UPLOADS_PER_TENANT_MAX,
} from '../../src/core/limits/machine.ts'
import { startApp, type TestKey } from '../support/app.ts'

/** Texts that the embedder was asked for and has not answered yet. */
const waiting: { text: string; answer: () => void }[] = []
let onAsked = () => {}
let held = false
const embedder: Embedder = {
  id: 'held',
  embed: (texts) =>
    new Promise((resolve) => {
      const answer = () => resolve(texts.map(() => new Float32Array([1, 0])))
      if (!held) return answer()
      waiting.push({ text: texts[0] ?? '', answer })
      onAsked()
    }),
  close: async () => {},
}
const app = await startApp({ embedder })
afterAll(() => app[Symbol.asyncDispose]())

const post = (key: TestKey, path: string, body: object) =>
  fetch(app.url + path, { method: 'POST', headers: key.headers, body: JSON.stringify(body) })
const asked = (text: string) =>
  new Promise<void>((resolve) => {
    onAsked = () => waiting.some((one) => one.text.includes(text)) && resolve()
    onAsked()
  })
const statuses = async (answers: Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status)

test.each([
  ['searches', '/v1/kb/search', KB_SEARCHES_PER_TENANT_MAX, (text: string) => ({ q: text })],
  [
    'uploads',
    '/v1/kb/docs',
    KB_UPLOADS_PER_TENANT_MAX,
    (text: string) => ({ title: 't', text: `${text}.` }),
  ],
])('many %s of one tenant do not stand before one of another', async (_, path, most, bodyOf) => {
  const [greedy, modest] = [await app.key('greedy@x.com'), await app.key('modest@x.com')]
  for (const key of [greedy, modest]) {
    expect((await post(key, '/v1/kb/docs', { title: 't', text: 'known' })).status).toBe(201)
  }
  held = true
  const many = Array.from({ length: 12 }, () => post(greedy, path, bodyOf('greedy')))
  await asked('greedy')
  const one = post(modest, path, bodyOf('modest'))
  await asked('modest')
  expect(waiting.filter(({ text }) => text.includes('greedy')).length).toBeLessThanOrEqual(most)
  held = false
  for (const { answer } of waiting.splice(0)) answer()
  expect(new Set(await statuses([...many, one])).size).toBe(1)
})
