import { describe, expect, test } from 'bun:test'
import { sql } from '../../src/storage/db.ts'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { openBoxFile } from '../support/box-file.ts'
import { createKey } from '../support/key.ts'
import { betweenPieces, longTalk } from '../support/long-talks.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { sharing } from '../support/sharing.ts'
import { postSse } from '../support/sse.ts'
import { tempFolder } from '../support/temp.ts'

test('kill -9 during a branch, or a deletion: nobody sees the rest, and it goes', async () => {
  using folder = tempFolder()
  const { headers } = await createKey(folder.path)
  const first = await startServer({ dataDir: folder.path })
  const body = { text: 'first', session_id: 'long', kb: false }
  await (await postSse(`${first.url}/v1/agent`, { headers, body })).all()
  const db = openBoxFile(folder.file('moonbase.db'))
  db.run(`WITH RECURSIVE n(seq) AS (SELECT 2 UNION ALL SELECT seq + 1 FROM n WHERE seq < 100)
    INSERT INTO turn (tenant_id, session_id, seq, user_text, reply, created_at)
    SELECT tenant_id, session_id, n.seq, 'question', hex(randomblob(500000)), created_at
    FROM turn, n WHERE turn.seq = 1`)
  const branches = () =>
    db
      .query<{ id: string; turns: number }, []>(
        `SELECT s.id, (SELECT count(*) FROM turn t WHERE t.session_id = s.id) AS turns
          FROM session s WHERE s.id <> 'long'`,
      )
      .all()
  const made = caller(`${first.url}/v1`, headers)('POST', '/sessions/long/branch', { seq: 100 })
  const answered = made.then(
    ({ status }) => status,
    () => 'cut',
  )
  let [half] = branches()
  while ((half?.turns ?? 0) < 2) {
    await Bun.sleep(1)
    half = branches()[0]
  }
  await first.kill()
  expect(await answered).toBe('cut')
  expect(branches()).toMatchObject([{ id: half?.id }])
  const second = await startServer({ dataDir: folder.path })
  const v1 = caller(`${second.url}/v1`, headers)
  expect((await v1('GET', '/sessions')).json()).toMatchObject({ sessions: [{ id: 'long' }] })
  while (branches().length > 0) await Bun.sleep(1)
  const turns = () =>
    db.query<{ left: number }, []>('SELECT count(*) AS left FROM turn').get()?.left
  expect(turns()).toBe(100)
  const removal = v1('DELETE', '/sessions/long').then(
    ({ status }) => status,
    () => 'cut',
  )
  while (turns() === 100) await Bun.sleep(1)
  await second.kill()
  expect(await removal).toBe('cut')
  expect(turns()).toBeGreaterThan(0)
  await using third = await startServer({ dataDir: folder.path })
  const after = caller(`${third.url}/v1`, headers)
  expect((await after('GET', '/sessions')).json()).toEqual({ sessions: [] })
  expect((await after('GET', '/sessions/long/history')).json()).toMatchObject({ count: 0 })
  while ((turns() ?? 0) > 0) await Bun.sleep(1)
  db.close()
}, 60_000)

describe.skipIf(!hasPostgres())('branches of two servers', () => {
  const TURNS = 6

  async function open() {
    const postgres = await startPostgres('all')
    const env = sharing(postgres.url)
    const [one, two] = [await startApp({ env }), await startApp({ env })]
    const key = await one.key('a@example.com')
    await longTalk(one, key, 'long', { turns: TURNS, letters: 1_000_000 })
    const seenAtTwo = async () => {
      const { sessions } = (
        await caller(`${two.url}/v1`, key.headers)<{ sessions: { id: string }[] }>(
          'GET',
          '/sessions',
        )
      ).json()
      return sessions.map(({ id }) => id)
    }
    return {
      ...{ one, two, seenAtTwo },
      branch: () =>
        caller(`${one.url}/v1`, key.headers)<{ session_id: string }>(
          'POST',
          '/sessions/long/branch',
          { seq: TURNS },
        ),
      async [Symbol.asyncDispose]() {
        await one[Symbol.asyncDispose]()
        await two[Symbol.asyncDispose]()
        await postgres[Symbol.asyncDispose]()
      },
    }
  }

  test('one that is made here is neither seen nor swept away there', async () => {
    await using both = await open()
    let pieces = 0
    using _ = betweenPieces(both.one.db, async (piece) => {
      pieces = piece
      if (piece !== 3) return
      await both.two.prune()
      expect(await both.seenAtTwo()).toEqual(['long'])
    })
    const { session_id } = (await both.branch()).json()
    // None was copied twice.
    expect(pieces).toBe(TURNS - 1)
    expect(await both.seenAtTwo()).toEqual([session_id, 'long'])
  }, 60_000)

  test('one whose server is gone is removed by the other, and does not come back', async () => {
    await using both = await open()
    const { one, two } = both
    const halves: string[] = []
    using _ = betweenPieces(one.db, async (piece) => {
      if (piece !== 3 || halves.length > 0) return
      const row = await two.db.get<{ id: string }>(sql`SELECT id FROM session WHERE id <> 'long'`)
      halves.push(row?.id ?? '')
      // As if it had not been heard of for a minute.
      await two.db.run(sql`DELETE FROM lease WHERE name LIKE 'branch %'`)
      await two.prune()
      expect(await two.db.all(sql`SELECT id FROM session`)).toEqual([{ id: 'long' }])
    })
    const { session_id } = (await both.branch()).json()
    expect(session_id).not.toBe(halves[0])
    expect(await both.seenAtTwo()).toEqual([session_id, 'long'])
    expect(await two.db.get(sql`SELECT count(*) AS turns FROM turn`)).toEqual({ turns: 2 * TURNS })
  }, 60_000)
})
