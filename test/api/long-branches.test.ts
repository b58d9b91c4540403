import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from '../../src/storage/db.ts'
import { type Answer, type Call, caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { betweenPieces, longTalk } from '../support/long-talks.ts'
import { postSse } from '../support/sse.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const TURNS = 12
let tenants = 0

interface Tenant {
  readonly key: TestKey
  readonly v1: Call
  readonly console: Call
  readonly say: (id: string) => Promise<unknown>
  readonly branch: (seq?: number) => Promise<Answer<{ session_id: string }>>
}

/** A tenant with a session of 12 MB, which is branched in twelve pieces. */
async function tenant(): Promise<Tenant> {
  const email = `long${++tenants}@example.com`
  const key = await app.key(email)
  const { headers } = await app.person(email)
  await longTalk(app, key, 'long', { turns: TURNS, letters: 1_000_000 })
  const v1 = caller(`${app.url}/v1`, key.headers)
  return {
    key,
    v1,
    console: caller(`${app.url}/console`, headers),
    say: async (id) =>
      (await postSse(`${app.url}/v1/agent`, { headers: key.headers, body: askIn(id) })).all(),
    branch: (seq = TURNS) => v1('POST', '/sessions/long/branch', { seq }),
  }
}

const askIn = (id: string) => ({ text: 'hello', session_id: id, kb: false })

/** All rows of sessions and turns that a tenant has. */
async function rowsOf({ key }: Tenant) {
  const { tenantId } = key
  const sessions = await app.db.all<{ id: string }>(sql`
    SELECT id FROM session WHERE tenant_id = ${tenantId} ORDER BY num`)
  const turns = await app.db.get<{ count: number }>(sql`
    SELECT count(*) AS count FROM turn WHERE tenant_id = ${tenantId}`)
  return { sessions: sessions.map(({ id }) => id), turns: turns?.count }
}

/** What everybody in the tenant sees of its sessions. */
async function seenBy({ v1, console: person }: Tenant): Promise<string[]> {
  const answers = await Promise.all([
    v1('GET', '/sessions'),
    person('GET', '/sessions'),
    person('GET', '/conversations'),
    person('GET', '/conversations?q=question'),
    person('GET', '/conversations/long/versions'),
  ])
  return answers.map(({ text }) => text)
}

describe('a branch of a long session', () => {
  test('has all turns up to one, with their details, whatever their size', async () => {
    const one = await tenant()
    const made = await one.branch(TURNS - 1)
    expect(made.status).toBe(201)
    const { session_id } = made.json()
    const read = async (id: string) =>
      (await one.v1<{ turns: unknown[] }>('GET', `/sessions/${id}/transcript`)).json().turns
    expect(await read(session_id)).toEqual((await read('long')).slice(1))
    const { conversations } = (
      await one.console<{ conversations: object[] }>('GET', '/conversations')
    ).json()
    expect(conversations).toMatchObject([
      { id: session_id, title: 'first (2)', turn_count: TURNS - 1, app_id: null },
    ])
  }, 60_000)

  test('lets others write meanwhile, and is seen by nobody before it is whole', async () => {
    const [one, other] = [await tenant(), await app.key('other@example.com')]
    const before = await seenBy(one)
    const pieces: number[] = []
    using _ = betweenPieces(app.db, async (piece) => {
      pieces.push(piece)
      if (piece !== 3 && piece !== TURNS) return
      const body = askIn(`beside ${piece}`)
      const stream = await postSse(`${app.url}/v1/agent`, { headers: other.headers, body })
      expect((await stream.all()).at(-1)?.event).toBe('llm_end')
      expect(await seenBy(one)).toEqual(before)
      const half = (await rowsOf(one)).sessions.at(-1) ?? ''
      expect(half).toMatch(/^br-/)
      expect((await one.console('GET', `/conversations/${half}`)).status).toBe(404)
    })
    const { session_id } = (await one.branch()).json()
    expect(pieces).toEqual(Array.from({ length: TURNS - 1 }, (_, n) => n + 1))
    const after = await seenBy(one)
    expect(after.map((text) => text.includes(session_id))).toEqual([true, true, true, true, true])
    expect(await rowsOf(one)).toEqual({ sessions: ['long', session_id], turns: 2 * TURNS })
  }, 60_000)

  test('keeps no branch of a short one waiting', async () => {
    const one = await tenant()
    await one.say('short')
    const made: string[] = []
    using _ = betweenPieces(app.db, async (piece) => {
      if (piece !== 3) return
      const answer = await one.v1<{ session_id: string }>('POST', '/sessions/short/branch', {
        seq: 1,
      })
      made.push(answer.json().session_id)
    })
    made.push((await one.branch()).json().session_id)
    expect((await rowsOf(one)).turns).toBe(2 * TURNS + 2)
    expect(new Set(made).size).toBe(2)
  }, 60_000)

  test('is none when its session is deleted meanwhile, or begun anew by somebody', async () => {
    for (const isBegunAnew of [false, true]) {
      const one = await tenant()
      let last = 0
      using _ = betweenPieces(app.db, async (piece) => {
        last = piece
        if (piece !== 5) return
        await one.v1('DELETE', '/sessions/long')
        if (isBegunAnew) await longTalk(app, one.key, 'long', { turns: TURNS, letters: 1 })
      })
      expect((await one.branch()).status).toBe(404)
      expect(last).toBe(5)
      expect(await rowsOf(one)).toEqual(
        isBegunAnew ? { sessions: ['long'], turns: TURNS } : { sessions: [], turns: 0 },
      )
    }
  }, 60_000)

  test('is none when its tenant is deleted meanwhile', async () => {
    const one = await tenant()
    using _ = betweenPieces(app.db, async (piece) => {
      if (piece !== 5) return
      await app.db.run(sql`UPDATE tenant SET gone_at = 1 WHERE id = ${one.key.tenantId}`)
      await app.prune()
    })
    expect((await one.branch()).status).toBe(404)
    expect(await rowsOf(one)).toEqual({ sessions: [], turns: 0 })
  }, 60_000)

  test('begins anew when turns that it needs are folded away meanwhile', async () => {
    const one = await tenant()
    const { tenantId } = one.key
    let folded = false
    using _ = betweenPieces(app.db, async (piece) => {
      if (folded || piece !== 2) return
      folded = true
      await app.db.batch([
        sql`UPDATE session SET summary = 'told', folded_through = 4
          WHERE tenant_id = ${tenantId} AND id = 'long'`,
        sql`DELETE FROM turn WHERE tenant_id = ${tenantId} AND session_id = 'long' AND seq <= 4`,
      ])
    })
    const { session_id } = (await one.branch()).json()
    const path = `/sessions/${session_id}/history`
    const { count, summary } = (await one.v1('GET', path)).json()
    expect({ count, summary }).toEqual({ count: 2 * (TURNS - 4), summary: 'told' })
    expect(await rowsOf(one)).toEqual({ sessions: ['long', session_id], turns: 2 * (TURNS - 4) })
  }, 60_000)

  test('goes with its family, also when it is made while that is deleted', async () => {
    const one = await tenant()
    const { session_id: second } = (await one.branch()).json()
    const { run } = app.db
    let third = ''
    app.db.run = async (statement) => {
      if (third === '' && statement.sql.startsWith('DELETE FROM session')) {
        app.db.run = run
        const body = { seq: TURNS }
        const made = await one.v1<{ session_id: string }>(
          'POST',
          `/sessions/${second}/branch`,
          body,
        )
        third = made.json().session_id
      }
      return run.call(app.db, statement)
    }
    expect((await one.v1('DELETE', '/sessions/long?family=1')).status).toBe(200)
    expect(third).toMatch(/^br-/)
    expect(await rowsOf(one)).toEqual({ sessions: [], turns: 0 })
  }, 60_000)

  test('is made beside another one of the same session, each whole', async () => {
    const one = await tenant()
    const made = await Promise.all([one.branch(), one.branch(7)])
    const ids = made.map((answer) => answer.json().session_id)
    for (const [id, count] of [
      [ids[0], TURNS],
      [ids[1], 7],
    ]) {
      const path = `/sessions/${id}/transcript`
      const { turns } = (await one.v1<{ turns: { seq: number }[] }>('GET', path)).json()
      expect(turns.map(({ seq }) => seq)).toEqual(
        Array.from({ length: Number(count) }, (_, n) => Number(count) - n),
      )
    }
    const titles = await Promise.all(
      ids.map(async (id) => (await one.console('GET', `/conversations/${id}`)).json().title),
    )
    expect(titles.sort()).toEqual(['first (2)', 'first (3)'])
  }, 60_000)

  test('is whole or none when who asked for it leaves', async () => {
    const one = await tenant()
    const leaving = new AbortController()
    const later: number[] = []
    using _ = betweenPieces(app.db, async (piece) => {
      if (piece > 3) later.push(piece)
      if (piece !== 3) return
      leaving.abort()
      // The server hears of it while it answers others.
      for (let asked = 0; asked < 5; asked++) await fetch(`${app.url}/healthz`)
    })
    const asked = fetch(`${app.url}/v1/sessions/long/branch`, {
      method: 'POST',
      headers: { ...one.key.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ seq: TURNS }),
      signal: leaving.signal,
    })
    expect(await asked.then(String, () => 'left')).toBe('left')
    let rows = await rowsOf(one)
    while (rows.sessions.length > 1) {
      await Bun.sleep(5)
      rows = await rowsOf(one)
    }
    expect(rows).toEqual({ sessions: ['long'], turns: TURNS })
    expect(later).toEqual([])
  }, 60_000)

  test('that a dying server left is seen by nobody, and is swept away', async () => {
    const one = await tenant()
    const before = await seenBy(one)
    const { run } = app.db
    {
      using _ = betweenPieces(app.db, async (piece) => {
        if (piece < 4) return
        // From now on nothing is written, also no end of the branch.
        app.db.run = () => Promise.reject(new Error('the server is dead'))
        throw new Error('the server is dead')
      })
      expect((await one.branch()).status).toBe(500)
      app.db.run = run
    }
    const left = await rowsOf(one)
    expect({ sessions: left.sessions.length, turns: left.turns }).toEqual({
      ...{ sessions: 2, turns: TURNS + 4 },
    })
    expect(await seenBy(one)).toEqual(before)
    await app.prune()
    expect(await rowsOf(one)).toEqual({ sessions: ['long'], turns: TURNS })
  }, 60_000)
})
