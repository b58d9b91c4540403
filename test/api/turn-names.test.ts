import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { detach, replay } from '../support/detached.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

interface Transcript {
  readonly turns: readonly { user_text: string; reply: string }[]
}

const DAY_MS = 24 * 60 * 60_000
const clock = fakeClock()
let upstream: Upstream
let app: TestApp

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock, studioTurnsMax: 5 })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const calls = () => upstream.requests.filter(({ path }) => path.includes('chat')).length

/** A person whose questions have this name. */
async function asker(person?: Awaited<ReturnType<typeof startTeam>>) {
  const { headers, call, tenantId } = person ?? (await startTeam(app))
  const turn_id = crypto.randomUUID()
  return {
    headers,
    call,
    tenantId,
    turn_id,
    ask: (text = '问', session_id = 'a') => detach(app.url, headers, { text, session_id, turn_id }),
    stored: async () => (await call<Transcript>('GET', '/console/sessions/a/transcript')).json(),
  }
}

/** A turn of which the model has written one word, and waits. */
async function waiting({ ask }: Pick<Awaited<ReturnType<typeof asker>>, 'ask'>) {
  const { promise, resolve } = Promise.withResolvers<void>()
  upstream.reply({ pieces: ['一', '二'], hold: { after: 1, until: promise } })
  const stream = await ask()
  await stream.until(({ type }) => type === 'llm_delta')
  return { stream, goOn: resolve }
}

test('a question that is sent many times at once is one turn, which all of them read', async () => {
  const { ask, turn_id, stored } = await asker()
  const streams = await Promise.all(Array.from({ length: 8 }, () => ask()))
  const told = await Promise.all(streams.map((stream) => stream.all()))
  expect(told[0]?.[0]).toMatchObject({ id: 1, type: 'turn', data: { turn_id, session_id: 'a' } })
  expect(told[0]?.at(-1)?.type).toBe('llm_end')
  for (const one of told) expect(one).toEqual([...(told[0] ?? [])])
  expect(calls()).toBe(1)
  expect((await stored()).turns).toHaveLength(1)
})

test('a question that is sent again is read while it runs, and once it has ended', async () => {
  const mine = await asker()
  const { stream, goOn } = await waiting(mine)
  stream.leave()
  const again = await mine.ask('Another question', 'another-talk')
  await again.until(({ type }) => type === 'llm_delta')
  goOn()
  const told = await again.all()
  expect(told.map(({ type }) => type).slice(0, 2)).toEqual(['turn', 'llm_delta'])
  expect(told.at(-1)).toMatchObject({ type: 'llm_end', data: { reply: '一二', seq: 1 } })
  const after = await mine.ask()
  expect(await after.all()).toEqual(told)
  expect(await (await replay(app.url, mine.headers, mine.turn_id)).all()).toEqual(told)
  expect(calls()).toBe(1)
  expect((await mine.stored()).turns).toMatchObject([{ user_text: '问', reply: '一二' }])
  expect((await mine.call('GET', '/console/conversations/another-talk')).status).toBe(404)
})

test('one that waits for the turn before it waits once', async () => {
  const first = await asker()
  const { goOn, stream } = await waiting(first)
  const second = { ...first, turn_id: crypto.randomUUID() }
  const body = { text: '二问', session_id: 'a', turn_id: second.turn_id }
  const ask = () => detach(app.url, first.headers, body)
  const streams = [await ask(), await ask()]
  upstream.reply({ text: '好' })
  goOn()
  await stream.all()
  for (const one of streams) expect((await one.all()).at(-1)?.data).toMatchObject({ seq: 2 })
  expect((await first.stored()).turns).toHaveLength(2)
})

test('it takes no second place among the four, no tokens and no slot of the minute', async () => {
  const owner = await startTeam(app)
  const { id, call, headers } = await owner.join('editor')
  // An open turn holds 4,096 tokens and its question: four of them fit.
  await owner.call('PUT', `/console/members/${id}`, { daily_tokens: 17_000 })
  const open = []
  for (const session_id of ['a', 'b', 'c', 'd']) {
    const turn_id = crypto.randomUUID()
    const ask = () => detach(app.url, headers, { text: '问', session_id, turn_id })
    open.push({ ask, ...(await waiting({ ask })) })
  }
  for (const { ask } of [...open, ...open]) {
    const again = await ask()
    expect(again.status).toBe(200)
    again.leave()
  }
  // The fifth is refused for its number alone.
  const fifth = { text: 'e', session_id: 'e', detached: true, turn_id: crypto.randomUUID() }
  const refused = await call('POST', '/console/agent', fifth)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  for (const { goOn, stream } of open) {
    goOn()
    await stream.all()
  }
  expect(calls()).toBe(4)
})

test('a refused question has not taken its name', async () => {
  const mine = await asker()
  const body = { text: '问', session_id: 'a', detached: true, turn_id: mine.turn_id }
  const refused = await mine.call('POST', '/console/agent', { ...body, files: ['none'] })
  expect(refused.status).toBe(404)
  expect((await (await mine.ask()).all()).at(-1)?.type).toBe('llm_end')
})

test('the name of another person, or in another tenant, is a turn of its own', async () => {
  const owner = await startTeam(app)
  const editor = await owner.join('editor')
  const mine = await asker(owner)
  upstream.reply({ text: 'The owner alone' })
  await (await mine.ask()).all()
  upstream.reply({ text: 'The editor alone' })
  const body = { text: '问', session_id: 'theirs', turn_id: mine.turn_id }
  const theirs = await detach(app.url, editor.headers, body)
  expect(theirs.events).toEqual([])
  expect((await theirs.all()).at(-1)?.data).toMatchObject({ reply: 'The editor alone', seq: 1 })
  const there = (await (await replay(app.url, editor.headers, mine.turn_id)).all()).at(-1)
  expect(there?.data).toMatchObject({ reply: 'The editor alone' })
  const own = (await (await replay(app.url, owner.headers, mine.turn_id)).all()).at(-1)
  expect(own?.data).toMatchObject({ reply: 'The owner alone' })
  const elsewhere = await startTeam(app)
  await elsewhere.invite(owner.email, 'editor')
  const invitations = await owner.call<{ invitations: { id: string }[] }>(
    'GET',
    '/auth/invitations',
  )
  for (const { id } of invitations.json().invitations) {
    await owner.call('POST', `/auth/invitations/${id}/accept`)
  }
  await owner.call('POST', '/auth/tenant', { tenant_id: elsewhere.tenantId })
  upstream.reply({ text: 'In the other tenant' })
  expect((await (await mine.ask()).all()).at(-1)?.data).toMatchObject({
    reply: 'In the other tenant',
    seq: 1,
  })
})

test('one that was stopped before a word stays stopped, and is known by its name', async () => {
  const mine = await asker()
  upstream.reply({ pieces: ['一'], hold: { after: 0, until: new Promise(() => {}) } })
  const stream = await mine.ask()
  await stream.until(({ type }) => type === 'turn')
  const stopped = await mine.call('POST', `/console/agent/turns/${mine.turn_id}/stop`)
  expect(stopped.json()).toEqual({ turn_id: mine.turn_id, stored: false })
  expect((await (await mine.ask()).all()).at(-1)?.data).toMatchObject({ code: 'stopped' })
  // A turn that has left nothing is forgotten, and so is its name.
  clock.advance(10 * 60_000)
  upstream.reset()
  upstream.reply({ text: '好' })
  expect((await (await mine.ask()).all()).at(-1)?.data).toMatchObject({ reply: '好', seq: 1 })
})

test('a name is taken for a day, and nothing else is kept of a turn that ended', async () => {
  const mine = await asker()
  const prune = async (ms: number) => {
    clock.advance(ms)
    await app.prune()
  }
  // The clock is believed once it has run evenly for an hour.
  await prune(0)
  await prune(60 * 60_000)
  await (await mine.ask()).all()
  await prune(11 * 60_000)
  const body = { text: '问', session_id: 'a', detached: true, turn_id: mine.turn_id }
  const late = await mine.call('POST', '/console/agent', body)
  expect([late.status, late.headers.get('x-error-params')]).toEqual([404, 'what=turn'])
  const id = `%${mine.turn_id}`
  const rows = await app.db.all({
    sql: 'SELECT user_text, files, images FROM talk_turn WHERE id LIKE ?',
    args: [id],
  })
  expect(rows).toEqual([{ user_text: '', files: '[]', images: '[]' }])
  const events = { sql: 'SELECT first_id FROM talk_event WHERE turn_id LIKE ?', args: [id] }
  expect(await app.db.all(events)).toEqual([])
  expect((await mine.stored()).turns).toHaveLength(1)
  await prune(DAY_MS)
  expect((await mine.ask()).status).toBe(200)
})

test.each([1, '', 'mine', `${'a'.repeat(8)}/../b`])('%p is no name', async (turn_id) => {
  const { call } = await asker()
  const body = { text: '问', detached: true, turn_id }
  expect((await call('POST', '/console/agent', body)).status).toBe(400)
})
