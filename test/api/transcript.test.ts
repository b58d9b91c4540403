import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { TranscriptResponse } from '../../src/features/sessions/model.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let headers: Record<string, string>
let general: Call
let person: Call

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    upstream: upstream.baseUrl,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
  headers = { ...(await app.key()).headers }
  general = caller(`${app.url}/v1`, headers)
  person = caller(`${app.url}/console`, (await app.person()).headers)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

async function say(text: string, session: string, more: object = {}, by = headers) {
  const body = { text, session_id: session, ...more }
  const stream = await postSse(`${app.url}/v1/agent`, { headers: by, body })
  return (await stream.all()).at(-1)?.event
}
async function talk(session: string, from: number, to: number) {
  for (let i = from; i <= to; i++) {
    upstream.reply({ text: `reply ${i}` })
    expect(await say(`turn ${i}`, session)).toBe('llm_end')
  }
}
const page = async (session: string, query = '', by = general) =>
  (await by<TranscriptResponse>('GET', `/sessions/${session}/transcript${query}`)).json()
const texts = ({ turns }: TranscriptResponse) => turns.map(({ user_text }) => user_text)
const history = async (session: string) =>
  (
    await general<{ count: number; messages: { content: string }[]; summary: string }>(
      'GET',
      `/sessions/${session}/history`,
    )
  ).json()

describe('the transcript', () => {
  test('folded turns stay in the transcript and leave the history', async () => {
    await talk('folded', 1, 20)
    upstream.reply({ text: 'reply 21' })
    upstream.reply({ text: 'SUMMARY' })
    await say('turn 21', 'folded')
    await app.jobs.idle()
    expect((await history('folded')).count).toBe(20)
    const first = await page('folded', '?limit=15')
    expect(texts(first)).toEqual(Array.from({ length: 15 }, (_, i) => `turn ${21 - i}`))
    expect(first.next_before).toBe(7)
    const last = await page('folded', `?limit=15&before=${first.next_before}`)
    expect(texts(last)).toEqual(['turn 6', 'turn 5', 'turn 4', 'turn 3', 'turn 2', 'turn 1'])
    expect(last.next_before).toBeNull()
    // What the model is shown is what history has: the summary, and no folded turn.
    upstream.reply({ text: 'reply 22' })
    await say('turn 22', 'folded')
    const shown = JSON.stringify(upstream.requests.at(-1)?.body.messages)
    expect(shown).toContain('SUMMARY')
    expect(shown).not.toContain('turn 11')
    expect(shown).toContain('turn 12')
  })

  test('a session that was never used has an empty transcript', async () => {
    expect(await page('never')).toEqual({ turns: [], next_before: null })
    expect((await general('GET', '/sessions/never/transcript?before=x')).status).toBe(400)
  })

  test('a deleted session has no transcript, also when its name is used again', async () => {
    await talk('deleted', 1, 2)
    await general('DELETE', '/sessions/deleted')
    expect((await page('deleted')).turns).toEqual([])
    await talk('deleted', 3, 3)
    expect(texts(await page('deleted'))).toEqual(['turn 3'])
  })

  test('a session of thousands of turns is deleted with all of them', async () => {
    await talk('long', 1, 1)
    const { tenantId } = await app.person()
    const rows = Array.from({ length: 4_100 }, (_, i) => ({
      sql: `INSERT INTO turn (tenant_id, session_id, seq, user_text, reply, created_at)
        VALUES (?, 'long', ?, 'q', 'a', '')`,
      args: [tenantId, i + 2],
    }))
    await app.db.batch(rows)
    expect((await page('long')).next_before).toBe(4_052)
    await general('DELETE', '/sessions/long')
    expect(await page('long')).toEqual({ turns: [], next_before: null })
    expect(
      await app.db.get({ sql: "SELECT 1 FROM turn WHERE session_id = 'long'", args: [] }),
    ).toBe(null)
  })

  test('an app key reads the answers of its app, and a device key nothing', async () => {
    const { id } = (await person<{ id: string }>('POST', '/apps', { name: 'shop' })).json()
    const ours = { ...(await app.key('a@example.com', { appId: id })).headers }
    const theirs = { ...(await app.key('a@example.com', { appId: 'other' })).headers }
    const device = await app.key('a@example.com', { appId: id, deviceId: 'd' })
    await say('before', 'shared')
    await say('hello', 'shared', {}, ours)
    expect(texts(await page('shared'))).toEqual(['hello', 'before'])
    expect(texts(await page('shared', '', caller(`${app.url}/v1`, ours)))).toEqual(['hello'])
    expect((await page('shared', '', caller(`${app.url}/v1`, theirs))).turns).toEqual([])
    const refused = caller(`${app.url}/v1`, device.headers)
    expect((await refused('GET', '/sessions/shared/transcript')).status).toBe(403)
  })
})

describe('the details of a turn', () => {
  test('details have tools, model, tokens and times, and results for people', async () => {
    const call = { name: 'calculator', arguments: '{"expression":"6*7"}' }
    upstream.reply({ text: '', toolCalls: [call] })
    upstream.reply({ text: 'It is 42.' })
    await say('6*7?', 'tools')
    const [turn] = (await page('tools')).turns
    expect(turn).toEqual({
      seq: 1,
      user_text: '6*7?',
      reply: 'It is 42.',
      created_at: expect.any(String),
      details: {
        kb_refs: [],
        tools: [{ name: 'calculator', ok: true, ms: expect.any(Number) }],
        channel: 'platform',
        model: 'fake',
        iterations: 2,
        input_tokens: 22,
        output_tokens: 14,
        first_ms: expect.any(Number),
        total_ms: expect.any(Number),
        fallback_reason: null,
      },
    })
    const [seen] = (await page('tools', '', person)).turns
    expect(seen?.details?.tools[0]).toMatchObject({ arguments: call.arguments, result: '6*7 = 42' })
  })

  test("the model's reasoning is shown only to people who ask for it", async () => {
    const thought = { text: 'Yes.', reasoning: 'Is it? It is.' }
    const { headers: cookie } = await app.person()
    const typesOf = async (path: string, by: Record<string, string>, more: object = {}) => {
      upstream.reply(thought)
      const body = { text: 'is it?', session_id: 'thought', ...more }
      const events = await (await postSse(app.url + path, { headers: by, body })).all()
      return new Set(events.map(({ event }) => event))
    }
    const shown = { show_thinking: true }
    expect(await typesOf('/console/agent', cookie, shown)).toContain('thinking_delta')
    const read = async (by: Call) => (await page('thought', '', by)).turns[0]?.details
    expect((await read(person))?.thinking).toBe('Is it? It is.')
    expect(await read(general)).not.toHaveProperty('thinking')
    expect(await typesOf('/console/agent', cookie)).not.toContain('thinking_delta')
    expect(await typesOf('/v1/agent', headers, shown)).not.toContain('thinking_delta')
    expect(await read(person)).not.toHaveProperty('thinking')
  })

  test('details have the shown documents, and why the platform took over', async () => {
    await general('POST', '/kb/docs', {
      title: 'Moon',
      text: 'Shackleton crater lies at the south pole.',
    })
    await app.jobs.idle()
    await general('PUT', '/provider', { base_url: upstream.baseUrl, api_key: 'k' })
    upstream.fault(400)
    upstream.reply({ text: 'At the south pole.' })
    await say('Where is the Shackleton crater?', 'kb')
    await general('DELETE', '/provider')
    const details = (await page('kb', '', person)).turns[0]?.details
    expect(details).toMatchObject({
      kb_refs: [{ title: 'Moon', seq: 0, score: expect.any(Number) }],
      channel: 'platform_fallback',
      fallback_reason: 'upstream_4xx',
      kb: { searched: true, shown: 1 },
    })
  })

  test('turns of chat completions with a session have details, too', async () => {
    upstream.reply({ text: 'Hi.' })
    const messages = [{ role: 'user', content: 'hello' }]
    await general('POST', '/chat/completions', { messages, session_id: 'door' })
    const [turn] = (await page('door')).turns
    expect(turn).toMatchObject({ user_text: 'hello', details: { model: 'fake', iterations: 1 } })
  })
})

describe('replacing the last turn', () => {
  test('the turn runs without the one that it replaces, and takes its place', async () => {
    await talk('again', 1, 2)
    upstream.reply({ text: 'better' })
    await say('turn two', 'again', { replace_last: true })
    const shown = JSON.stringify(upstream.requests.at(-1)?.body.messages)
    expect(shown).toContain('turn 1')
    expect(shown).not.toContain('turn 2')
    expect(texts(await page('again'))).toEqual(['turn two', 'turn 1'])
    const { messages, count } = await history('again')
    expect(count).toBe(4)
    expect(messages.at(-1)?.content).toBe('better')
    const { sessions } = (
      await general<{ sessions: { id: string; turn_count: number }[] }>('GET', '/sessions')
    ).json()
    expect(sessions.find(({ id }) => id === 'again')?.turn_count).toBe(2)
  })

  test('a turn that fails leaves the one that it would have replaced', async () => {
    await talk('kept', 1, 1)
    upstream.fault(400)
    expect(await say('worse', 'kept', { replace_last: true })).toBe('error')
    expect(texts(await page('kept'))).toEqual(['turn 1'])
    await talk('kept', 2, 2)
    expect(texts(await page('kept'))).toEqual(['turn 2', 'turn 1'])
  })

  test('replace_last without an earlier turn stores an ordinary turn', async () => {
    upstream.reply({ text: 'hi' })
    expect(await say('first', 'fresh', { replace_last: true })).toBe('llm_end')
    expect(texts(await page('fresh'))).toEqual(['first'])
    const refused = await general('POST', '/agent', { text: 'a', replace_last: 'yes' })
    expect(refused.status).toBe(400)
  })

  test("an app key does not replace a turn of another app's", async () => {
    const ours = { ...(await app.key('a@example.com', { appId: 'ours' })).headers }
    await talk('foreign', 1, 1)
    expect(await say('mine', 'foreign', { replace_last: true }, ours)).toBe('llm_end')
    expect(await say('better', 'foreign', { replace_last: true }, ours)).toBe('llm_end')
    expect(texts(await page('foreign'))).toEqual(['better', 'turn 1'])
  })

  test('a session that was deleted while the turn ran begins with it', async () => {
    await talk('meanwhile', 1, 2)
    upstream.reset()
    const gate = Promise.withResolvers<void>()
    upstream.reply({ text: 'late', hold: { after: 0, until: gate.promise } })
    const answer = say('new', 'meanwhile', { replace_last: true })
    await upstream.nextRequest()
    await general('DELETE', '/sessions/meanwhile')
    gate.resolve()
    expect(await answer).toBe('llm_end')
    expect(texts(await page('meanwhile'))).toEqual(['new'])
  })
})

test('without transcripts a fold deletes its turns, and a start older ones', async () => {
  using folder = tempFolder()
  const start = (env: Record<string, string>) =>
    startApp({ upstream: upstream.baseUrl, dataDir: folder.path, env })
  const read = async (by: TestApp) => {
    const call = caller(`${by.url}/v1`, (await by.key()).headers)
    return texts((await call<TranscriptResponse>('GET', '/sessions/s/transcript')).json())
  }
  const tell = async (by: TestApp, from: number, to: number) => {
    const { headers: credential } = await by.key()
    for (let i = from; i <= to; i++) {
      const body = { text: `turn ${i}`, session_id: 's' }
      await (await postSse(`${by.url}/v1/agent`, { headers: credential, body })).all()
    }
    await by.jobs.idle()
  }
  {
    await using with_ = await start({})
    await tell(with_, 1, 21)
    expect(await read(with_)).toHaveLength(21)
  }
  await using without = await start({ MB_TRANSCRIPT: 'false' })
  await without.jobs.idle()
  expect((await read(without)).at(-1)).toBe('turn 12')
  await tell(without, 22, 32)
  expect((await read(without)).at(-1)).toBe('turn 23')
}, 60_000)
