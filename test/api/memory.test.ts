import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let key: TestKey

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
  key = await app.key()
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

interface History {
  messages: { role: string; content: string }[]
  summary: string
  count: number
}

async function say(text: string, session: string) {
  const body = JSON.stringify({ text, session_id: session })
  const init = { method: 'POST', headers: key.headers, body }
  expect(await (await fetch(`${app.url}/v1/agent`, init)).text()).toContain('llm_end')
}
async function history(session: string): Promise<History> {
  const url = `${app.url}/v1/sessions/${session}/history`
  return (await (await fetch(url, { headers: key.headers })).json()) as History
}
async function talk(session: string, from: number, to: number) {
  for (let i = from; i <= to; i++) {
    upstream.reply({ text: `reply ${i}` })
    await say(`turn ${i}`, session)
  }
}
const messageCount = ({ messages }: Upstream['requests'][number]['body']) =>
  (messages as unknown[]).length

/** What the model was shown last, as one text. */
const shown = () => JSON.stringify(upstream.requests.at(-1)?.body.messages)

describe('memory', () => {
  test('a session keeps twenty turns as they were', async () => {
    await talk('verbatim', 1, 20)
    await app.jobs.idle()
    const { count, summary, messages } = await history('verbatim')
    expect(count).toBe(40)
    expect(summary).toBe('')
    expect(messages[0]?.content).toBe('turn 1')
  })

  test('a session of more than twenty turns folds the oldest half into a summary', async () => {
    await talk('folded', 1, 20)
    upstream.reply({ text: 'reply 21' })
    upstream.reply({ text: 'SUMMARY of the beginning' })
    await say('turn 21', 'folded')
    await app.jobs.idle()
    const asked = shown()
    expect(asked).toContain('turn 1')
    expect(asked).toContain('turn 11')
    expect(asked).not.toContain('turn 12')
    const { summary, messages, count } = await history('folded')
    expect(summary).toBe('SUMMARY of the beginning')
    expect(count).toBe(20)
    expect(messages[0]?.content).toBe('turn 12')
    expect(messages.at(-1)?.content).toBe('reply 21')

    upstream.reply({ text: 'reply 22' })
    await say('turn 22', 'folded')
    const next = shown()
    expect(next).toContain('SUMMARY of the beginning')
    for (let i = 12; i <= 21; i++) expect(next).toContain(`turn ${i}`)
    expect(next).not.toContain('turn 11')
  })

  test('a session of few long turns is folded, too', async () => {
    upstream.reply({ text: 'a' })
    await say('长'.repeat(13_000), 'long')
    upstream.reply({ text: 'b' })
    upstream.reply({ text: 'SHORT' })
    await say('话'.repeat(13_000), 'long')
    await app.jobs.idle()
    const { summary, messages } = await history('long')
    expect(summary).toBe('SHORT')
    expect(messages).toHaveLength(2)
    expect(messages[0]?.content).toStartWith('话')
  })

  const faults: [string, () => void][] = [
    ['refuses', () => upstream.fault(400)],
    ['breaks off', () => upstream.fault('cut', { after: 2 })],
    ['says nothing', () => upstream.reply({ text: '   ' })],
  ]
  for (const [name, arrange] of faults) {
    test(`a session loses no turn when the summariser ${name}, and folds later`, async () => {
      const session = `failing-${name.replaceAll(' ', '-')}`
      await talk(session, 1, 20)
      upstream.reply({ text: 'reply 21' })
      arrange()
      await say('turn 21', session)
      await app.jobs.idle()
      const kept = await history(session)
      expect(kept.summary).toBe('')
      expect(kept.count).toBe(42)
      expect(kept.messages[0]?.content).toBe('turn 1')

      upstream.reply({ text: 'reply 22' })
      upstream.reply({ text: 'at last' })
      await say('turn 22', session)
      await app.jobs.idle()
      const folded = await history(session)
      expect(folded.summary).toBe('at last')
      expect(folded.messages[0]?.content).toBe('turn 12')
      expect(folded.count).toBe(22)
    })
  }

  test('a session too long for its model goes on with its newer turns, and is folded', async () => {
    await talk('narrow', 1, 4)
    const message = "This model's maximum context length is 512 tokens."
    upstream.fault(400, { body: JSON.stringify({ error: { message } }) })
    upstream.reply({ text: 'reply 5' })
    upstream.reply({ text: 'SUMMARY for a narrow model' })
    await say('turn 5', 'narrow')
    await app.jobs.idle()
    const [asked, again, fold] = upstream.requests.slice(-3).map(({ body }) => body.messages)
    expect(JSON.stringify(asked)).toContain('turn 1')
    expect(JSON.stringify(again)).not.toContain('turn 2')
    expect(JSON.stringify(again)).toContain('turn 3')
    expect(JSON.stringify(fold)).toContain('turn 1')
    const { summary, messages } = await history('narrow')
    expect(summary).toBe('SUMMARY for a narrow model')
    expect(messages.map(({ content }) => content)).toEqual([
      ...['turn 4', 'reply 4'],
      ...['turn 5', 'reply 5'],
    ])
  })

  test('a question too long for its model is refused once no memory is left', async () => {
    await talk('too-narrow', 1, 3)
    const code = 'context_length_exceeded'
    upstream.chat.alwaysFault(400, { body: JSON.stringify({ error: { code } }) })
    const body = JSON.stringify({ text: 'turn 4', session_id: 'too-narrow' })
    const init = { method: 'POST', headers: key.headers, body }
    const answer = await (await fetch(`${app.url}/v1/agent`, init)).text()
    expect(answer).toContain('model_upstream_4xx')
    expect(upstream.requests.slice(-3).map(({ body }) => messageCount(body))).toEqual([8, 4, 2])
    expect((await history('too-narrow')).count).toBe(6)
  })

  test('turns that arrive while the summary is written are kept', async () => {
    await talk('meanwhile', 1, 20)
    const gate = Promise.withResolvers<void>()
    upstream.reply({ text: 'reply 21' })
    upstream.reply({ text: 'slow summary', holdHeaders: gate.promise })
    await say('turn 21', 'meanwhile')
    await talk('meanwhile', 22, 23)
    gate.resolve()
    await app.jobs.idle()
    const { summary, messages } = await history('meanwhile')
    expect(summary).toBe('slow summary')
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(said).toEqual(Array.from({ length: 12 }, (_, i) => `turn ${i + 12}`))
  })

  test('a summary does not bring a deleted session back', async () => {
    await talk('deleted', 1, 20)
    const gate = Promise.withResolvers<void>()
    upstream.reply({ text: 'reply 21' })
    upstream.reply({ text: 'ghost', holdHeaders: gate.promise })
    await say('turn 21', 'deleted')
    await fetch(`${app.url}/v1/sessions/deleted`, { method: 'DELETE', headers: key.headers })
    upstream.reply({ text: 'fresh' })
    await say('new start', 'deleted')
    gate.resolve()
    await app.jobs.idle()
    expect(await history('deleted')).toEqual({
      messages: [
        { role: 'user', content: 'new start' },
        { role: 'assistant', content: 'fresh' },
      ],
      summary: '',
      count: 2,
    })
  })

  test('the summary of a deleted session does not reach a new one of its name', async () => {
    const gate = Promise.withResolvers<void>()
    upstream.reply({ text: 'a' })
    await say('长'.repeat(13_000), 'again')
    upstream.reply({ text: 'b' })
    upstream.reply({ text: 'ghost', holdHeaders: gate.promise })
    await say('话'.repeat(13_000), 'again')
    await fetch(`${app.url}/v1/sessions/again`, { method: 'DELETE', headers: key.headers })
    await talk('again', 1, 3)
    gate.resolve()
    await app.jobs.idle()
    const { summary, messages } = await history('again')
    expect(summary).toBe('')
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(said).toEqual(['turn 1', 'turn 2', 'turn 3'])
  })
})

test('a session that no model can fold stops taking turns and loses none', async () => {
  const long = { pieces: Array.from({ length: 16 }, () => '长'.repeat(95_000)) }
  const ask = async () => {
    const body = JSON.stringify({ text: 'hi', session_id: 'full' })
    const init = { method: 'POST', headers: key.headers, body }
    return (await fetch(`${app.url}/v1/agent`, init)).text()
  }
  upstream.reply(long)
  upstream.reply(long)
  upstream.fault(400)
  expect(await ask()).toContain('llm_end')
  expect(await ask()).toContain('llm_end')
  await app.jobs.idle()
  upstream.fault(400)
  const refused = await ask()
  expect(refused).toContain('会话内容过多且暂时无法整理')
  expect(refused).not.toContain('llm_end')
  await app.jobs.idle()
  expect((await history('full')).count).toBe(4)
  upstream.reply({ text: 'SUMMARY at last' })
  expect(await ask()).toContain('会话内容过多')
  await app.jobs.idle()
  upstream.reply({ text: 'again' })
  expect(await ask()).toContain('again')
  expect(await history('full')).toMatchObject({ summary: 'SUMMARY at last', count: 4 })
}, 60_000)
