import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ConversationListResponse } from '../../src/features/sessions/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { detach } from '../support/detached.ts'
import { postSse } from '../support/sse.ts'
import { converse } from '../support/talks.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

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

let tenants = 0
const tenant = async () => {
  const own = await converse(app, { upstream, clock, email: `b${++tenants}@example.com` })
  const branch = (id: string, seq: unknown) =>
    own.call<{ session_id: string }>('POST', `/sessions/${id}/branch`, { seq })
  const transcript = async (id: string) =>
    (
      await own.call<{ turns: { seq: number; user_text: string; created_at: string }[] }>(
        'GET',
        `/sessions/${id}/transcript`,
      )
    ).json().turns
  const titles = async (query = {}) =>
    (await own.list(query)).conversations.map(({ id, title }) => [id, title])
  return { ...own, branch, transcript, titles }
}

describe('a branch', () => {
  test('tells up to where each version is the same, and when it goes on otherwise', async () => {
    const { call, say, branch, transcript } = await tenant()
    for (const text of ['one', 'two', 'three']) await say('a', text)
    const first = (await branch('a', 1)).json().session_id
    for (const text of ['two b', 'three b']) await say(first, text)
    const second = (await branch(first, 2)).json().session_id
    await say(second, 'three c')
    // Two that begin after the same turn are asked the same at one moment.
    const twin = (await branch('a', 1)).json().session_id
    await say(twin, 'two b')
    const ended = (await branch('a', 2)).json().session_id
    const told = async (id: string) => {
      const { versions } = (
        await call<{ versions: { shared_seq: number | null; next_at: string | null }[] }>(
          'GET',
          `/conversations/${id}/versions`,
        )
      ).json()
      return versions.map(({ shared_seq, next_at }) => [shared_seq, next_at])
    }
    const at = async (id: string, seq: number) =>
      (await transcript(id)).find((turn) => turn.seq === seq)?.created_at ?? null
    expect(await told('a')).toEqual([
      ...[
        [null, null],
        [1, await at(first, 2)],
        [1, await at(first, 2)],
      ],
      ...[
        [1, await at(twin, 2)],
        [2, null],
      ],
    ])
    expect(await told(second)).toEqual([
      ...[
        [1, await at('a', 2)],
        [2, await at(first, 3)],
        [null, null],
      ],
      ...[
        [1, await at(twin, 2)],
        [1, await at('a', 2)],
      ],
    ])
    expect(await told(ended)).toEqual([
      ...[
        [2, await at('a', 3)],
        [1, await at(first, 2)],
        [1, await at(first, 2)],
      ],
      ...[
        [1, await at(twin, 2)],
        [null, null],
      ],
    ])
  })

  test('has the turns up to one, and both versions go on for themselves', async () => {
    const { call, say, branch, transcript, titles } = await tenant()
    for (const text of ['one', 'two', 'three']) await say('a', text)
    const before = await transcript('a')
    const made = await branch('a', 2)
    expect(made.status).toBe(201)
    const id = made.json().session_id
    expect(id).toMatch(/^br-[0-9a-f]{32}$/)
    expect(await transcript(id)).toEqual(before.slice(1))
    await say(id, 'other')
    const history = await call<{ messages: { content: string }[] }>(
      'GET',
      `/sessions/${id}/history`,
    )
    expect(
      history
        .json()
        .messages.map(({ content }) => content)
        .filter((_, i) => i % 2 === 0),
    ).toEqual(['one', 'two', 'other'])
    expect((await transcript('a')).map(({ seq }) => seq)).toEqual([3, 2, 1])
    expect(await titles()).toEqual([[id, 'one (2)']])
    await say('a', 'four')
    expect(await titles()).toEqual([['a', 'one']])
    const versions = await call('GET', `/conversations/${id}/versions`)
    expect(versions.json()).toMatchObject({
      versions: [
        { session_id: 'a', from_seq: null, shared_seq: 2 },
        { session_id: id, from_seq: 2, shared_seq: null, next_at: null },
      ],
    })
    await app.jobs.idle()
    expect((await titles({ q: 'other' })).map(([one]) => one)).toEqual([id])
    expect((await titles({ q: 'three' })).map(([one]) => one)).toEqual(['a'])
  })

  test('has a number of its own, of several that are made at once too', async () => {
    const { call, say, branch } = await tenant()
    await say('a', 'one')
    const made = await Promise.all(Array.from({ length: 6 }, () => branch('a', 1)))
    const titles: string[] = []
    for (const answer of made) {
      const { title } = (
        await call<{ title: string }>('GET', `/conversations/${answer.json().session_id}`)
      ).json()
      titles.push(title)
    }
    expect(titles.sort()).toEqual([2, 3, 4, 5, 6, 7].map((number) => `one (${number})`))
  })

  test('before the first question is an empty session of the family', async () => {
    const { say, branch, transcript, titles } = await tenant()
    await say('a', 'one')
    const id = (await branch('a', 0)).json().session_id
    expect(await transcript(id)).toEqual([])
    expect(await titles()).toEqual([[id, 'one (2)']])
    const third = (await branch(id, 0)).json().session_id
    expect(await titles()).toEqual([[third, 'one (3)']])
  })

  test('for a question hides nothing that was said before something is said in it', async () => {
    const { call, headers, say, titles } = await tenant()
    const branch = (id: string, seq: number) =>
      call<{ session_id: string }>('POST', `/sessions/${id}/branch`, { seq, for_question: true })
    await say('a', 'one')
    const other = (await branch('a', 0)).json().session_id
    expect(await titles()).toEqual([['a', 'one']])
    await say('a', 'two')
    const id = (await branch('a', 1)).json().session_id
    expect(await titles()).toEqual([['a', 'one']])
    // A question whose answer is on its way is what was said last, and none that got no answer.
    const rest = Promise.withResolvers<void>()
    upstream.reply({ text: 'no', hold: { after: 0, until: rest.promise } })
    const open = await detach(app.url, headers, { text: 'again', session_id: id })
    await open.until(({ type }) => type === 'turn')
    expect(await titles()).toEqual([[id, 'one (3)']])
    const { turn_id } = (await open.until(({ type }) => type === 'turn')).data
    await call('POST', `/agent/turns/${turn_id}/stop`)
    rest.resolve()
    expect(await titles()).toEqual([['a', 'one']])
    await say(other, 'otherwise')
    expect(await titles()).toEqual([[other, 'one (2)']])
    await call('DELETE', `/sessions/${other}`)
    await call('DELETE', '/sessions/a')
    expect(await titles()).toEqual([[id, 'one (3)']])
  })

  test('of what is not there is refused', async () => {
    const { say, branch } = await tenant()
    await say('a', 'one')
    const refused = [await branch('a', 2), await branch('b', 0), await branch('a', '1')]
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 400])
  })

  test('goes with its family, or alone', async () => {
    const { call, say, branch, titles } = await tenant()
    await say('a', 'one')
    const id = (await branch('a', 1)).json().session_id
    await call('DELETE', `/sessions/${id}`)
    expect(await titles()).toEqual([['a', 'one']])
    await branch('a', 1)
    await call('DELETE', '/sessions/a?family=1')
    expect(await titles()).toEqual([])
  })

  test('belongs to whom its session belongs, whoever makes it', async () => {
    const { call, say, list } = await tenant()
    await say('a', 'one')
    const key = await app.key(`b${tenants}@example.com`)
    const made = await fetch(`${app.url}/v1/sessions/a/branch`, {
      method: 'POST',
      headers: { ...key.headers, 'content-type': 'application/json' },
      body: '{"seq":1}',
    })
    const { session_id } = (await made.json()) as { session_id: string }
    const mine = await list({ of: 'mine' })
    expect(mine.conversations.map(({ id }) => id)).toEqual([session_id])
    expect((await call('GET', `/conversations/${session_id}`)).status).toBe(200)
  })

  test('of a deleted name has nothing to do with those of whom has the name now', async () => {
    const owner = await startTeam(app)
    const editor = await owner.join('editor')
    const begin = async ({ call, headers }: Pick<typeof editor, 'call' | 'headers'>) => {
      const body = { text: 'x', session_id: 'free' }
      await (await postSse(`${app.url}/console/agent`, { headers, body })).all()
      const made = await call<{ session_id: string }>('POST', '/console/sessions/free/branch', {
        seq: 1,
      })
      return made.json().session_id
    }
    const versions = async ({ call }: Pick<typeof editor, 'call'>, id: string) =>
      (
        await call<{ versions: { session_id: string }[] }>(
          'GET',
          `/console/conversations/${id}/versions`,
        )
      )
        .json()
        .versions.map(({ session_id }) => session_id)
    const first = await begin(owner)
    await owner.call('DELETE', '/console/sessions/free')
    const second = await begin(editor)
    expect(await versions(editor, 'free')).toEqual(['free', second])
    expect(await versions(owner, first)).toEqual([first])
    const { conversations } = (
      await owner.call<ConversationListResponse>('GET', '/console/conversations?of=mine')
    ).json()
    expect(conversations.map(({ id }) => id)).toEqual([first])
    await editor.call('DELETE', '/console/sessions/free?family=1')
    expect(await versions(owner, first)).toEqual([first])
  })

  test('stays in its folder and pinned, and is moved with its conversation', async () => {
    const { call, say, branch, list } = await tenant()
    await say('a', 'one')
    const marks = { folder: 'Work', pinned: true }
    expect((await call('PUT', '/conversations/a', marks)).json()).toMatchObject(marks)
    const id = (await branch('a', 1)).json().session_id
    expect((await list({ folder: 'Work' })).conversations).toMatchObject([{ id, ...marks }])
    await call('PUT', `/conversations/${id}`, { folder: null, archived: true })
    for (const one of ['a', id]) {
      expect((await call('GET', `/conversations/${one}`)).json()).toMatchObject({
        ...{ id: one, folder: null, pinned: true, archived: true, pending: [] },
      })
    }
    clock.advance(1000)
    await say('a', 'two')
    expect((await list()).conversations).toEqual([])
    expect((await list({ archived: 'true' })).conversations.map((one) => one.id)).toEqual(['a'])
  })
})
