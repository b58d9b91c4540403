import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createDeletion, hiding } from '../../src/features/sessions/deletion-store.ts'
import { createSessionStore } from '../../src/features/sessions/store.ts'
import { sql } from '../../src/storage/db.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { betweenDeletions, longTalk } from '../support/long-talks.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'

let app: TestApp
let operator: Call
let other: Readonly<Record<string, string>>
beforeAll(async () => {
  app = await startApp()
  operator = caller(app.url, (await app.operator('boss@example.com')).headers)
  other = (await app.key('other@example.com')).headers
})
afterAll(() => app[Symbol.asyncDispose]())

/** A talk of 4 MB is deleted in four pieces. */
const PIECES = 4
const SIZE = { turns: PIECES + 1, letters: 1_000_000 }

/** How a turn ends: by its last event, by the code of a failure, or the status of a refusal. */
async function say(headers: Readonly<Record<string, string>>, id: string) {
  const body = { text: 'hello', session_id: id, kb: false }
  const stream = await postSse(`${app.url}/v1/agent`, { headers, body })
  if (stream.status !== 200) return stream.status
  const { type, code } = (await stream.all()).at(-1)?.data ?? {}
  return code ?? type
}

/** A team with a general key, and a member who has a long talk and a short one. */
async function team() {
  const owner = await startTeam(app)
  const member = await owner.join('editor')
  const { tenantId } = owner
  const ofMember = { headers: member.headers, tenantId }
  await longTalk(app, ofMember, 'long', { ...SIZE, surface: '/console' })
  await longTalk(app, ofMember, 'short', { turns: 1, letters: 1, surface: '/console' })
  const thumb = { session_id: 'long', seq: 1, rating: 1, text: 'secret', share: true }
  await member.call('POST', '/console/feedback', thumb)
  const made = await owner.call<{ key: string }>('POST', '/console/keys', {})
  const headers = { authorization: `Bearer ${made.json().key}` }
  return { owner, member, tenantId, headers, v1: caller(`${app.url}/v1`, headers) }
}
type Team = Awaited<ReturnType<typeof team>>

/** What a general key, which reads all, is told of the talks. */
async function told({ v1 }: Pick<Team, 'v1'>) {
  const [listed, history, transcript, title] = await Promise.all([
    v1<{ sessions: { id: string }[] }>('GET', '/sessions'),
    v1<{ count: number }>('GET', '/sessions/long/history'),
    v1<{ turns: unknown[] }>('GET', '/sessions/long/transcript'),
    v1('POST', '/sessions/long/branch', { seq: 1 }),
  ])
  const { count } = history.json()
  const turns = transcript.json().turns.length
  return { sessions: listed.json().sessions, count, turns, branch: title.status }
}
const NOTHING = { sessions: [], count: 0, turns: 0, branch: 404 }

async function rowsOf(tenantId: string): Promise<number> {
  const row = await app.db.get<{ rows: number }>(sql`
    SELECT (SELECT count(*) FROM session WHERE tenant_id = ${tenantId})
      + (SELECT count(*) FROM turn WHERE tenant_id = ${tenantId})
      + (SELECT count(*) FROM feedback WHERE tenant_id = ${tenantId}) AS "rows"`)
  return row?.rows ?? 0
}

const personOf = async (email: string) => {
  const { people } = (
    await operator<{ people: { id: string; email: string }[] }>('GET', '/console/system/people')
  ).json()
  return people.find((person) => person.email === email)?.id
}

const WAYS: readonly [name: string, remove: (from: Team) => Promise<{ status: number }>][] = [
  [
    'with a member whose talks are deleted',
    ({ owner, member }) => owner.call('DELETE', `/console/members/${member.id}?talks=delete`),
  ],
  [
    'with the account of a person',
    async ({ member }) =>
      operator('DELETE', `/console/system/people/${await personOf(member.email)}`),
  ],
]

describe.each(WAYS)('talks that go %s', (_, remove) => {
  test('are told to nobody from then on; their texts go in pieces', async () => {
    const one = await team()
    expect((await told(one)).count).toBeGreaterThan(0)
    const seen: unknown[] = []
    using _ = betweenDeletions(app.db, async (piece) => {
      const said = await say(one.headers, 'long')
      const beside = await say(other, `beside ${one.tenantId} ${piece}`)
      seen.push({ ...(await told(one)), said, beside })
    })
    expect((await remove(one)).status).toBe(200)
    expect(seen.length).toBeGreaterThanOrEqual(PIECES)
    expect(seen).toEqual(seen.map(() => ({ ...NOTHING, said: 'not_found', beside: 'llm_end' })))
    expect(await rowsOf(one.tenantId)).toBe(0)
    expect(await say(one.headers, 'long')).toBe('llm_end')
    expect((await told(one)).count).toBe(2)
  }, 60_000)

  test('are told to nobody either when the server dies meanwhile, and go later', async () => {
    const one = await team()
    {
      using _ = betweenDeletions(app.db, async (piece) => {
        if (piece > 1) throw new Error('the server is dead')
      })
      expect((await remove(one)).status).toBe(200)
    }
    expect(await rowsOf(one.tenantId)).toBeGreaterThan(2)
    expect(await told(one)).toEqual(NOTHING)
    await app.prune()
    expect(await rowsOf(one.tenantId)).toBe(0)
  }, 60_000)
})

let tenants = 0

describe('a long session that is deleted', () => {
  async function long() {
    const key = await app.key(`long${++tenants}@example.com`)
    await longTalk(app, key, 'long', SIZE)
    const v1 = caller(`${app.url}/v1`, key.headers)
    return { ...key, v1, remove: () => v1('DELETE', '/sessions/long') }
  }

  test('is never seen by half', async () => {
    const one = await long()
    const seen: unknown[] = []
    using _ = betweenDeletions(app.db, async () => seen.push(await told(one)))
    expect((await one.remove()).status).toBe(200)
    expect(seen.length).toBeGreaterThanOrEqual(PIECES)
    expect(seen).toEqual(seen.map(() => NOTHING))
    expect(await say(one.headers, 'long')).toBe('llm_end')
    expect((await told(one)).count).toBe(2)
  }, 60_000)

  test('is deleted by the next call when one has failed half-way', async () => {
    const one = await long()
    {
      using _ = betweenDeletions(app.db, async (piece) => {
        if (piece > 1) throw new Error('the disk is full')
      })
      expect((await one.remove()).status).toBe(500)
    }
    expect(await told(one)).toEqual(NOTHING)
    expect((await one.remove()).status).toBe(200)
    expect(await rowsOf(one.tenantId)).toBe(0)
    expect(await say(one.headers, 'long')).toBe('llm_end')
  }, 60_000)

  test('keeps no server from stopping: the rest goes later', async () => {
    const one = await long()
    const { tenantId } = one
    await app.db.batch(hiding(sql`tenant_id = ${tenantId}`))
    const stopping = new AbortController()
    let pieces = 0
    using _ = betweenDeletions(app.db, async (piece) => {
      pieces = piece
      if (piece === 2) stopping.abort()
    })
    const deletion = createDeletion(app.db)
    await deletion.clear(tenantId, 'long', stopping.signal)
    expect(pieces).toBe(2)
    expect(await rowsOf(tenantId)).toBeGreaterThan(1)
    await deletion.clear(tenantId, 'long')
    expect(await rowsOf(tenantId)).toBe(0)
  }, 60_000)

  test('leaves one alone that gets its name from another server meanwhile', async () => {
    const one = await long()
    let begunAnew = false
    using _ = betweenDeletions(app.db, async () => {
      if (begunAnew) return
      begunAnew = true
      await app.db.run(sql`DELETE FROM session WHERE tenant_id = ${one.tenantId}`)
      await longTalk(app, one, 'long', { turns: 3, letters: 1 })
    })
    expect((await one.remove()).status).toBe(200)
    expect((await told(one)).turns).toBe(3)
  }, 60_000)
})

test('a tenant that is gone loses its turns in pieces', async () => {
  const key = await app.key('gone@example.com')
  await longTalk(app, key, 'long', SIZE)
  await app.db.run(sql`UPDATE tenant SET gone_at = 1 WHERE id = ${key.tenantId}`)
  const { tenantId } = key
  const left = new Set<number | undefined>()
  using _ = betweenDeletions(app.db, async () => {
    const turns = await app.db.get<{ count: number }>(sql`
      SELECT count(*) AS count FROM turn WHERE tenant_id = ${tenantId}`)
    left.add(turns?.count)
  })
  await app.prune()
  expect([...left]).toEqual([PIECES + 1, PIECES - 1, PIECES - 2, PIECES - 3])
  expect(await rowsOf(tenantId)).toBe(0)
}, 60_000)

test('folded turns that are not kept go in pieces, and none of a session begun anew', async () => {
  const key = await app.key('folded@example.com')
  const { tenantId } = key
  for (const id of ['a', 'b']) await longTalk(app, key, id, SIZE)
  await app.db.run(sql`UPDATE session SET folded_through = ${PIECES} WHERE tenant_id = ${tenantId}`)
  const seqsOf = async (id: string) => {
    const turns = await app.db.all<{ seq: number }>(sql`
      SELECT seq FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${id} ORDER BY seq`)
    return turns.map(({ seq }) => seq)
  }
  let pieces = 0
  using _ = betweenDeletions(app.db, async (piece) => {
    pieces = piece
    if (piece !== 2) return
    await app.db.run(sql`DELETE FROM session WHERE tenant_id = ${tenantId} AND id = 'b'`)
    await longTalk(app, key, 'b', { turns: 2, letters: 1 })
  })
  await createSessionStore(app.db, { keepsTranscript: () => false }).forgetFolded()
  expect(pieces).toBeGreaterThanOrEqual(PIECES)
  expect([await seqsOf('a'), await seqsOf('b')]).toEqual([[PIECES + 1], [1, 2]])
}, 60_000)
