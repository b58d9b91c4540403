import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { wav } from '../support/recordings.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
const never = Promise.withResolvers<void>()
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    upstream: upstream.baseUrl,
    env: { MB_ASR_BASE_URL: upstream.baseUrl, MB_TTS_BASE_URL: upstream.baseUrl },
  })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  never.resolve()
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** Forty tokens in English letters. */
const SAID = 'a '.repeat(80)
const messages = [{ role: 'user', content: SAID }]
const audio = { audio_b64: Buffer.from(wav(16_000, new Float32Array(1_600))).toString('base64') }

const DOORS = [
  { name: 'the agent', path: '/agent', body: { text: SAID } },
  { name: 'streamed chat', path: '/chat/completions', body: { stream: true, messages } },
  { name: 'whole chat', path: '/chat/completions', body: { messages } },
  { name: 'streamed responses', path: '/responses', body: { stream: true, input: SAID } },
  { name: 'whole responses', path: '/responses', body: { input: SAID } },
  { name: 'voice', path: '/voice', body: audio },
] as const

const send = ({ headers }: TestKey, path: string, body: object, signal?: AbortSignal) =>
  fetch(`${app.url}/v1${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })

/**
 * Sends a turn and leaves once `until` resolves; resolves when the model's upstream knows. False
 * when it is refused, because the budget is spent.
 */
async function cut(key: TestKey, path: string, body: object, until: () => Promise<unknown>) {
  const aborts = upstream.aborts()
  const leaving = new AbortController()
  const answer = send(key, path, body, leaving.signal).then(async (response) => {
    if (!response.ok && response.status !== 429) throw new Error(response.statusText)
    await response.text()
    return response.ok
  })
  answer.catch(() => {})
  const sent = await Promise.race([until().then(() => true), answer])
  leaving.abort()
  if (sent) await upstream.aborted(aborts + 1)
  return sent
}

const tokensOf = async (key: TestKey) => {
  await app.flush()
  const [row] = await app.db.all<{ input: number | null; output: number | null }>({
    sql: `SELECT sum(input_tokens) AS input, sum(output_tokens) AS output
      FROM usage_key_day WHERE key_id = ?`,
    args: [key.id],
  })
  return { input: row?.input ?? 0, output: row?.output ?? 0 }
}
const asked = () => upstream.nextRequest('/chat/completions')

describe('a turn that is cut off before its first word', () => {
  for (const { name, path, body } of DOORS) {
    test(`costs the budget of its key what was sent: ${name}`, async () => {
      const key = await app.key(undefined, { dailyTokens: 500 })
      upstream.transcriptions.always({ text: SAID })
      upstream.chat.always({ holdHeaders: never.promise })
      let calls = 0
      while (calls < 40 && (await cut(key, path, body, asked))) calls++
      expect(calls).toBeLessThan(15)
      // A turn that was cut is counted a little after it has ended.
      while ((await tokensOf(key)).input < 500) await Bun.sleep(1)
      const refused = await send(key, path, body)
      expect([refused.status, refused.headers.get('x-error-code')]).toEqual([429, 'budget_spent'])
    })
  }

  test('costs what was sent when the answer has begun with nothing but its headers', async () => {
    const key = await app.key()
    upstream.reply({ text: 'late', hold: { after: 0, until: never.promise } })
    await cut(key, '/agent', { text: SAID }, asked)
    expect((await tokensOf(key)).input).toBeGreaterThanOrEqual(40)
    expect((await tokensOf(key)).output).toBe(0)
  })

  test('costs what the model was thinking, also where nobody sees it', async () => {
    const thought = '想'.repeat(80)
    for (const [path, body] of [
      ['/agent', { text: SAID }],
      ['/agent', { text: SAID, show_thinking: true }],
      ['/chat/completions', { messages, stream: true }],
    ] as const) {
      const key = await app.key()
      for (const plan of [
        { reasoning: thought, hold: { after: 10 } },
        { pieces: ['<think>', thought], hold: { after: 2 } },
      ]) {
        const before = (await tokensOf(key)).output
        const sent = Promise.withResolvers<void>()
        const hold = {
          ...plan.hold,
          /** Asked for when the pieces before it are out. */
          get until() {
            sent.resolve()
            return never.promise
          },
        }
        upstream.reply({ ...plan, hold })
        await cut(key, path, body, async () => {
          await sent.promise
          await answered()
        })
        expect((await tokensOf(key)).output - before).toBeGreaterThanOrEqual(80)
      }
    }
  })

  test('costs nothing where the model refused it', async () => {
    const key = await app.key()
    for (const fault of [400, 401, 404] as const) upstream.fault(fault)
    for (let turns = 0; turns < 3; turns++) await (await send(key, '/agent', { text: SAID })).text()
    expect(await tokensOf(key)).toEqual({ input: 0, output: 0 })
  })
})

/** A turn of another key, whose answer shows that what the model had written has been read. */
async function answered(): Promise<void> {
  const other = await app.key('other@example.com')
  upstream.reply({ text: 'ok' })
  await (await send(other, '/agent', { text: 'hi' })).text()
}

test('the summary of a long session counts for the key whose turn made it long', async () => {
  const key = await app.key()
  const call = caller(`${app.url}/v1`, key.headers)
  const none = { usage: { input: 0, output: 0 } }
  for (let turns = 0; turns < 21; turns++) upstream.reply({ text: 'r', ...none })
  upstream.reply({ text: 'SUMMARY', usage: { input: 700, output: 30 } })
  for (let turns = 0; turns < 21; turns++) {
    await call('POST', '/agent', { text: SAID, session_id: 'folds' })
  }
  await app.jobs.idle()
  expect(await tokensOf(key)).toEqual({ input: 700, output: 30 })

  // Of a summary that breaks off, what was sent and came.
  for (let turns = 0; turns < 11; turns++) upstream.reply({ text: 'r', ...none })
  upstream.fault('cut', { after: 2 })
  for (let turns = 0; turns < 11; turns++) {
    await call('POST', '/agent', { text: SAID, session_id: 'folds' })
  }
  await app.jobs.idle()
  const { input, output } = await tokensOf(key)
  expect(input - 700).toBeGreaterThan(40 * 10)
  expect(output - 30).toBe(2)
})
