import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ConversationListResponse } from '../../src/features/sessions/model.ts'
import { createSessionStore } from '../../src/features/sessions/store.ts'
import { sql } from '../../src/storage/db.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { converse, fillers } from '../support/talks.ts'
import { tempFolder } from '../support/temp.ts'
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
const tenant = () => converse(app, { upstream, clock, email: `t${++tenants}@example.com` })
const ids = ({ conversations }: ConversationListResponse) => conversations.map(({ id }) => id)

describe('the index of what was said', () => {
  test('a turn that is replaced or deleted is no longer found', async () => {
    const { call, say, list } = await tenant()
    await say('a', 'first zebra')
    await say('a', 'second giraffe', 'a tall ostrich')
    await say('a', 'second badger', 'yes', { replace_last: true })
    expect(ids(await list({ q: 'giraffe' }))).toEqual([])
    expect(ids(await list({ q: 'ostrich' }))).toEqual([])
    expect(ids(await list({ q: 'badger zebra' }))).toEqual(['a'])
    await call('DELETE', '/sessions/a')
    expect(ids(await list({ q: 'zebra' }))).toEqual([])
    await say('a', 'nothing of it')
    expect(ids(await list({ q: 'badger' }))).toEqual([])
  })

  test('nothing is left of forgotten turns, deleted sessions and tenants', async () => {
    const { tenantId, say, list, rename } = await tenant()
    const entries = async () => {
      const row = await app.db.get<{ n: number }>(sql`SELECT count(*) AS n FROM turn_word`)
      return row?.n ?? 0
    }
    const before = await entries()
    for (const text of ['zebra', 'badger', 'otter']) await say('a', text)
    await say('b', 'zebra')
    await rename('b', 'Animals')
    expect(await entries()).toBe(before + 1)
    expect(ids(await list({ q: 'zebra' }))).toEqual(['b', 'a'])
    expect(await entries()).toBe(before + 5)
    await app.db.run(sql`
      UPDATE session SET folded_through = 2 WHERE tenant_id = ${tenantId} AND id = 'a'`)
    await createSessionStore(app.db, { keepsTranscript: () => false }).forgetFolded()
    expect(await entries()).toBe(before + 3)
    expect(ids(await list({ q: 'zebra' }))).toEqual(['b'])
    await app.db.run(sql`DELETE FROM tenant WHERE id = ${tenantId}`)
    expect(await entries()).toBe(before)
  })

  test('a title is found until it is replaced or taken back', async () => {
    const { say, list, rename } = await tenant()
    await say('a', 'text')
    await rename('a', 'Lighthouse')
    expect(ids(await list({ q: 'light text' }))).toEqual(['a'])
    await rename('a', 'Harbour')
    expect(ids(await list({ q: 'lighthouse' }))).toEqual([])
    expect((await list({ q: 'harb' })).conversations[0]?.match).toBeNull()
    await rename('a', '')
    expect(ids(await list({ q: 'harbour' }))).toEqual([])
  })

  test('only the beginnings of words and texts count', async () => {
    const { say, list } = await tenant()
    const long = 'w'.repeat(60)
    await say('far', `near ${'x '.repeat(10_000)}behind`)
    await say('long', `${long} end`)
    expect(ids(await list({ q: 'near' }))).toEqual(['far'])
    expect(ids(await list({ q: 'behind' }))).toEqual([])
    expect(ids(await list({ q: `${long.slice(0, 39)}v` }))).toEqual([])
    expect(ids(await list({ q: `${long}v end` }))).toEqual(['long'])
  })

  test('rare words are found behind more conversations than one step looks at', async () => {
    const { tenantId, say, list } = await tenant()
    await say('old', 'needle and pin')
    await say('older', 'needle alone')
    const at = clock.iso()
    const others = Array.from({ length: 700 }, (_, i) => ({
      sql: `INSERT INTO session (tenant_id, id, turn_count, first_at, last_at)
        VALUES (?, ?, 1, ?, ?)`,
      args: [tenantId, `other${i}`, at, at],
    }))
    await app.db.batch(others)
    expect(ids(await list({ q: 'needle' }))).toEqual(['older', 'old'])
    expect(ids(await list({ q: 'needle pin' }))).toEqual(['old'])
    expect(ids(await list({ q: 'needle cushion' }))).toEqual([])
    const first = await list({ q: 'needle', limit: '1' })
    expect(ids(first)).toEqual(['older'])
    const second = await list({ q: 'needle', limit: '1', before: first.next_before ?? '' })
    expect([ids(second), second.next_before]).toEqual([['old'], null])
  })

  test('what earlier versions stored is found after a start', async () => {
    using folder = tempFolder()
    const options = { upstream: upstream.baseUrl, clock, dataDir: folder.path }
    const open = (server: TestApp) =>
      converse(server, { upstream, clock, email: 'old@example.com' })
    {
      await using before = await startApp(options)
      const { tenantId, say, rename } = await open(before)
      for (const id of ['other', 'long']) await say(id, 'once upon')
      await rename('long', 'Tale')
      await before.db.batch([
        ...fillers(tenantId, 'long', 2, 120),
        { sql: 'DELETE FROM turn_word', args: [] },
        { sql: 'UPDATE session SET index_from = 0, index_below = 16777216', args: [] },
      ])
      await say('long', 'and now')
    }
    await using after = await startApp(options)
    await after.jobs.idle()
    expect(await after.db.get(sql`SELECT count(*) AS n FROM turn_word`)).toEqual({ n: 124 })
    const { list } = await open(after)
    expect(ids(await list({ q: 'upon' }))).toEqual(['long', 'other'])
    expect(ids(await list({ q: 'filler7 filler121 tale now' }))).toEqual(['long'])
    expect((await list({ q: 'filler2' })).conversations[0]?.match?.seq).toBe(29)
    expect(ids(await list({ q: 'filler122' }))).toEqual([])
  })
})
