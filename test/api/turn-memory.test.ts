import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { MEMORY_CHARS_MAX } from '../../src/core/limits/contract.ts'
import { TURN_BYTES_SURE } from '../../src/core/limits/machine.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const MEMORY_BYTES = 1_000_000
const FULL = {
  type: 'error',
  message: '服务器繁忙：进行中的对话占用内存过多，请稍后重试',
  code: 'turn_memory_full',
}

let upstream: Upstream
let app: TestApp
let greedy: TestKey
let modest: TestKey
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, requestBytesMax: MEMORY_BYTES })
  greedy = await app.key('greedy@example.com')
  modest = await app.key('modest@example.com')
})
afterEach(() => {
  upstream.reset()
  expect(app.budget.used).toBe(0)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

let sessions = 0
const open = (key: TestKey) => {
  const body = { text: 'hi', session_id: `s${++sessions}`, kb: false }
  return postSse(`${app.url}/v1/agent`, { headers: key.headers, body })
}
const lastOf = async (stream: Awaited<ReturnType<typeof open>>) => (await stream.all()).at(-1)?.data
const delta = (fields: object) => JSON.stringify({ choices: [{ delta: fields }] })
const HALF = 'x'.repeat(MEMORY_BYTES / 4)
const call = (text: string) =>
  delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'calculator', arguments: text } }] })
const callOf = (index: number) =>
  delta({ tool_calls: [{ index, id: `${index}${HALF}`, function: { name: 'calculator' } }] })

describe('memory that a model can fill during a turn is counted and bounded', () => {
  test.each([
    ['its text', [delta({ content: HALF }), delta({ content: HALF })]],
    ['the arguments of a tool call that does not end', [call(HALF), call(HALF)]],
    ['ids of tool calls', [0, 1, 2].map((index) => callOf(index))],
    [
      'a thought that is not shown',
      [delta({ content: '<think>' }), ...Array(3).fill(delta({ content: HALF }))],
    ],
  ])('a turn whose model fills the memory with %s ends', async (_, payloads) => {
    upstream.reply({ payloads, hold: { after: payloads.length, until: new Promise(() => {}) } })
    expect(await lastOf(await open(greedy))).toEqual(FULL)
  })

  test('a turn whose model sends an endless line ends', async () => {
    upstream.reply({ payloads: ['x'.repeat(MEMORY_BYTES - 40_000)], splitBytes: 20_000 })
    expect(await lastOf(await open(greedy))).toEqual(FULL)
  })

  test('a turn whose rounds of tool calls fill the memory ends', async () => {
    const expression = `1${' '.repeat(80_000)}`
    upstream.chat.always({ toolCalls: [{ name: 'calculator', arguments: { expression } }] })
    expect(await lastOf(await open(greedy))).toEqual(FULL)
  })
})

describe('a summary that is written in the background', () => {
  const say = (text: string) => {
    const body = { text, session_id: 'long', kb: false }
    return postSse(`${app.url}/v1/agent`, { headers: greedy.headers, body }).then(lastOf)
  }
  const history = async () =>
    (await fetch(`${app.url}/v1/sessions/long/history`, { headers: greedy.headers })).json()

  test('a summary that fills the memory is dropped, and no turn is lost', async () => {
    await say('长'.repeat(13_000))
    upstream.reply({ text: 'second' })
    upstream.reply({ payloads: [delta({ content: '<think>' }), ...Array(9).fill(call(HALF))] })
    await say('话'.repeat(13_000))
    await app.jobs.idle()
    expect(app.log()).toContain('memory budget exceeded')
    expect(await history()).toMatchObject({ summary: '', count: 4 })
  })

  test('a summary that is longer than the verbatim turns may be is cut', async () => {
    upstream.reply({ text: 'third' })
    upstream.reply({ pieces: Array(40).fill('长'.repeat(1_000)) })
    await say('再'.repeat(13_000))
    await app.jobs.idle()
    expect((await history()).summary).toBe('长'.repeat(MEMORY_CHARS_MAX))
  })
})

test('a short turn continues although others hold nearly all of the memory', async () => {
  const shares = ['greedy', 'another'].map((owner) => app.budget.open(owner))
  for (const share of shares) share.add(MEMORY_BYTES * 0.465)
  upstream.reply({ pieces: ['x'.repeat(TURN_BYTES_SURE / 6)] })
  expect(await lastOf(await open(modest))).toMatchObject({ type: 'llm_end' })
  for (const share of shares) share.close()
})
