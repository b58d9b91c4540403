import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ConversationListResponse } from '../../src/features/sessions/model.ts'
import type { Call } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { filesClient } from '../support/chat-files.ts'
import { fakeClock } from '../support/clock.ts'
import { detach, type NumberedStream, replay } from '../support/detached.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

interface Detail {
  readonly title: string
  readonly turn_count: number
  readonly pending: readonly { turn_id: string; state: string; text: string; partial: string }[]
}
interface Transcript {
  readonly turns: readonly { seq: number; reply: string; details: { stopped?: boolean } }[]
}

const clock = fakeClock()
let upstream: Upstream
let app: TestApp

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const isWord = ({ type }: { type: string }) => type === 'llm_delta'
const turnOf = async (stream: NumberedStream) =>
  (await stream.until(({ type }) => type === 'turn')).data.turn_id as string
const detail = async (call: Call, id: string) =>
  (await call<Detail>('GET', `/console/conversations/${id}`)).json()
const turns = async (call: Call, id: string) =>
  (await call<Transcript>('GET', `/console/sessions/${id}/transcript`)).json().turns

/** A turn of which the model has written one word, and waits. */
async function waiting(headers: Record<string, string>, session_id: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  upstream.reply({ pieces: ['一', '二'], hold: { after: 1, until: promise } })
  const stream = await detach(app.url, headers, { text: '问', session_id })
  await stream.until(isWord)
  return { stream, id: await turnOf(stream), goOn: resolve }
}

describe('a detached turn', () => {
  test('with a long answer is kept in small rows, and read again from any event', async () => {
    const { call, headers } = await startTeam(app)
    upstream.reply({ pieces: Array.from({ length: 6_000 }, () => 'x'.repeat(60)) })
    const stream = await detach(app.url, headers, { text: '问', session_id: 'long' })
    const told = await stream.all()
    const id = await turnOf(stream)
    // Resolves once all of it is on disk.
    await call('POST', `/console/agent/turns/${id}/stop`)
    const rows = await app.db.all<{ chars: number }>({
      sql: 'SELECT length(events) AS chars FROM talk_event WHERE turn_id = ? ORDER BY first_id',
      args: [id],
    })
    expect(rows.length).toBeGreaterThan(5)
    // The last event of all holds the whole answer.
    for (const { chars } of rows.slice(0, -1)) expect(chars).toBeLessThan(80_000)
    for (const after of [0, 1, 2_999, 5_999]) {
      const again = await replay(app.url, headers, id, { after })
      expect(await again.all()).toEqual(told.slice(after))
    }
  })

  test('goes on when its reader leaves, and is read again from any event', async () => {
    const { call, headers } = await startTeam(app)
    const { stream, id, goOn } = await waiting(headers, 'a')
    stream.leave()
    expect(await detail(call, 'a')).toMatchObject({
      title: '问',
      turn_count: 0,
      pending: [{ turn_id: id, state: 'running', text: '问', partial: '一' }],
    })
    const list = await call<ConversationListResponse>('GET', '/console/conversations?of=mine')
    expect(list.json().conversations).toMatchObject([{ id: 'a', title: '问', turn_count: 0 }])
    const later = await replay(app.url, headers, id, { after: 1 })
    goOn()
    const rest = await later.all()
    expect(rest.map((event) => event.id)).toEqual(rest.map((_, index) => index + 2))
    expect(rest.at(-1)).toMatchObject({ type: 'llm_end', data: { reply: '一二', seq: 1 } })
    const whole = await (await replay(app.url, headers, id)).all()
    expect(whole[0]).toMatchObject({ id: 1, type: 'turn', data: { turn_id: id, session_id: 'a' } })
    expect(whole.slice(1)).toEqual([...rest])
    const both = { after: 0, lastEventId: whole.length - 1 }
    expect(await (await replay(app.url, headers, id, both)).all()).toEqual(whole.slice(-1))
    const past = await replay(app.url, headers, id, { after: whole.length })
    expect([past.status, await past.all()]).toEqual([200, []])
    expect(await detail(call, 'a')).toMatchObject({ turn_count: 1, pending: [] })
    expect(await turns(call, 'a')).toMatchObject([{ seq: 1, reply: '一二' }])
    clock.advance(10 * 60_000)
    expect((await replay(app.url, headers, id)).status).toBe(404)
  })

  test('names those of its files that are there', async () => {
    const { call, headers } = await startTeam(app)
    const files = filesClient(() => app.url)
    const plan = await files.ingest(headers, 'The plan.', 'plan.txt')
    const gone = await files.ingest(headers, 'The rest.', 'rest.txt')
    const { promise, resolve } = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['一', '二'], hold: { after: 1, until: promise } })
    const asked = { text: '问', session_id: 'a', files: [plan.id, gone.id] }
    const stream = await detach(app.url, headers, asked)
    await stream.until(isWord)
    await files.call(headers, 'DELETE', `/${gone.id}`)
    const { pending } = await detail(call, 'a')
    expect(pending).toMatchObject([{ named: [{ file_id: plan.id, name: 'plan.txt' }] }])
    resolve()
    await stream.all()
  })

  test('of another person or none is a turn that never was', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    const stream = await detach(app.url, owner.headers, { text: '问', session_id: 'a' })
    const id = await turnOf(stream)
    await stream.all()
    for (const turn of [id, 'none']) {
      const path = `/console/agent/turns/${turn}`
      const answers = [
        await editor.call('GET', `${path}/events`),
        await editor.call('POST', `${path}/stop`),
        await editor.call('DELETE', path),
      ]
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
    }
    expect((await editor.call('GET', '/console/conversations/a')).status).toBe(404)
    expect((await owner.call('DELETE', `/console/agent/turns/${id}`)).status).toBe(404)
  })

  test('that is stopped stores what was written, once', async () => {
    const { call, headers } = await startTeam(app)
    const { stream, id } = await waiting(headers, 'a')
    expect((await call('DELETE', `/console/agent/turns/${id}`)).status).toBe(400)
    const stop = () => call('POST', `/console/agent/turns/${id}/stop`)
    const answers = await Promise.all([stop(), stop()])
    for (const answer of answers) expect(answer.json()).toEqual({ turn_id: id, stored: true })
    const end = (await stream.all()).at(-1)
    expect(end).toMatchObject({
      type: 'llm_end',
      data: { reply: '一', stopped: true, seq: 1 },
    })
    expect((await stop()).json()).toEqual({ turn_id: id, stored: true })
    expect(await turns(call, 'a')).toMatchObject([{ reply: '一', details: { stopped: true } }])
    await upstream.aborted(1)
  })

  test('that waits for another of its session is stopped without a call', async () => {
    const { call, headers } = await startTeam(app)
    const first = await waiting(headers, 'a')
    const second = await detach(app.url, headers, { text: '二问', session_id: 'a' })
    const id = await turnOf(second)
    const pending = (await detail(call, 'a')).pending
    expect(pending.map(({ text, state }) => [text, state])).toEqual([
      ['问', 'running'],
      ['二问', 'running'],
    ])
    const stopped = await call('POST', `/console/agent/turns/${id}/stop`)
    expect(stopped.json()).toEqual({ turn_id: id, stored: false })
    expect((await second.all()).at(-1)).toMatchObject({ type: 'error', data: { code: 'stopped' } })
    first.goOn()
    await first.stream.all()
    expect(upstream.requests.filter(({ path }) => path.includes('chat'))).toHaveLength(1)
    expect(await turns(call, 'a')).toHaveLength(1)
  })

  test('that fails is not pending, stores nothing, and its error is read again', async () => {
    const { call, headers } = await startTeam(app)
    upstream.fault(400)
    const stream = await detach(app.url, headers, { text: '问', session_id: 'a' })
    const end = (await stream.all()).at(-1)
    expect(end?.type).toBe('error')
    const again = await replay(app.url, headers, await turnOf(stream))
    expect((await again.all()).at(-1)).toEqual(end as never)
    expect((await call('GET', '/console/conversations/a')).status).toBe(404)
    expect(await turns(call, 'a')).toEqual([])
    const list = await call<ConversationListResponse>('GET', '/console/conversations')
    expect(list.json().conversations).toEqual([])
  })

  test('is the fourth of a person at most', async () => {
    const { call, headers } = await startTeam(app)
    const first = await waiting(headers, 'a')
    const more = []
    for (const text of ['b', 'c', 'd']) {
      more.push(await detach(app.url, headers, { text, session_id: 'a' }))
    }
    const body = { text: 'e', session_id: 'a', detached: true }
    const refused = await call('POST', '/console/agent', body)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    first.goOn()
    for (const stream of more) expect((await stream.all()).at(-1)?.type).toBe('llm_end')
    const stream = await detach(app.url, headers, { text: 'e', session_id: 'a' })
    expect((await stream.all()).at(-1)?.data).toMatchObject({ seq: 5 })
  })

  test('that is refused as the fifth holds no tokens', async () => {
    const owner = await startTeam(app)
    const { id, call, headers } = await owner.join('editor')
    // An open turn holds 4,096 tokens and its question: five of them fit.
    await owner.call('PUT', `/console/members/${id}`, { daily_tokens: 18_000 })
    const open = [await waiting(headers, 'a')]
    for (const session of ['b', 'c', 'd']) open.push(await waiting(headers, session))
    const body = { text: 'e', session_id: 'e' }
    const refused = await call('POST', '/console/agent', { ...body, detached: true })
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([429, 'rate_limited'])
    upstream.reply({ text: 'yes' })
    expect((await call('POST', '/console/agent', body)).status).toBe(200)
    for (const { goOn, stream } of open) {
      goOn()
      await stream.all()
    }
  })

  test('ends with its talk, which it does not bring back', async () => {
    const { call, headers } = await startTeam(app)
    const { stream } = await waiting(headers, 'a')
    await call('DELETE', '/console/sessions/a')
    expect((await stream.all()).at(-1)?.type).toBe('error')
    await upstream.aborted(1)
    expect((await call('GET', '/console/conversations/a')).status).toBe(404)
    expect(await turns(call, 'a')).toEqual([])
  })

  test('ends with the membership of its person, and not with the session', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    const { stream } = await waiting(editor.headers, 'a')
    await owner.call('DELETE', `/console/members/${editor.id}`)
    expect((await stream.all()).at(-1)).toMatchObject({
      type: 'error',
      data: { code: 'not_signed_in' },
    })
    await upstream.aborted(1)
  })

  test('takes the name of its talk before it is answered', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    const { stream, goOn } = await waiting(owner.headers, 'a')
    const theirs = await detach(app.url, editor.headers, { text: '问', session_id: 'a' })
    expect(theirs.status).toBe(404)
    goOn()
    await stream.all()
  })
})
