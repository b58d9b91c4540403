import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ConversationListResponse } from '../../src/features/sessions/model.ts'
import type { Call } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { converse, fillers } from '../support/talks.ts'
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
/** A new tenant's console, and a way to have a turn with its assistant. */
const tenant = () => converse(app, { upstream, clock, email: `t${++tenants}@example.com` })
const ids = ({ conversations }: ConversationListResponse) => conversations.map(({ id }) => id)

describe('the list of conversations', () => {
  test("a conversation's title is its first text in one line", async () => {
    const { say, list } = await tenant()
    await say('a', `How long\n\n is   the warranty${'?'.repeat(80)}`)
    const at = clock.iso()
    await say('a', 'and of the battery')
    const { conversations, next_before } = await list()
    expect(conversations).toEqual([
      {
        id: 'a',
        title: `How long is the warranty${'?'.repeat(36)}`,
        turn_count: 2,
        last_at: at,
        app_id: null,
        device_id: null,
        ...{ folder: null, pinned: false, archived: false },
      },
    ])
    expect(next_before).toBeNull()
  })

  test('pages follow each other, also where two were active at one time', async () => {
    const { call, say, list } = await tenant()
    for (const name of ['a', 'b', 'c/ü', 'd']) await say(name, name)
    const tenantId = (await app.person(`t${tenants}@example.com`)).tenantId
    const same = clock.iso()
    await app.db.run({
      sql: `UPDATE session SET last_at = ? WHERE tenant_id = ? AND id IN ('b', 'c/ü')`,
      args: [same, tenantId],
    })
    const seen: string[] = []
    let before: string | null = ''
    while (before !== null) {
      const page: ConversationListResponse = await list({ limit: '1', before })
      seen.push(...ids(page))
      before = page.next_before
    }
    expect(seen).toEqual(['b', 'c/ü', 'd', 'a'])
    expect(ids(await list({ before: same }))).toEqual(['d', 'a'])
    expect((await call('GET', '/conversations?before=yesterday')).status).toBe(400)
  })

  test('replacing the only turn changes the title', async () => {
    const { say, list } = await tenant()
    await say('a', 'hwo long')
    await say('a', 'how long', 'two years', { replace_last: true })
    expect((await list()).conversations[0]?.title).toBe('how long')
  })
})

describe('the title of a conversation', () => {
  test('a given title holds until it is taken back, or the session deleted', async () => {
    const { call, say, list, rename } = await tenant()
    await say('a/b', 'first text')
    const named = await rename('a/b', '  My\ntitle ')
    expect(named.json()).toMatchObject({ id: 'a/b', title: 'My title', turn_count: 1 })
    await say('a/b', 'second text')
    expect((await list()).conversations[0]?.title).toBe('My title')
    expect((await rename('a/b', ' ')).json().title).toBe('first text')
    await rename('a/b', 'My title')
    await call('DELETE', '/sessions/a%2Fb')
    expect((await list()).conversations).toEqual([])
    await say('a/b', 'again')
    expect((await list()).conversations[0]?.title).toBe('again')
  })

  test('a title too long, of another type or for an unknown session is refused', async () => {
    const { say, rename } = await tenant()
    await say('a', 'text')
    expect((await rename('a', '题'.repeat(60))).status).toBe(200)
    expect((await rename('a', '题'.repeat(61))).status).toBe(400)
    expect((await rename('a', null)).status).toBe(400)
    expect((await rename('never', 'x')).status).toBe(404)
  })
})

describe('the search of conversations', () => {
  let search: (q: string, more?: Record<string, string>) => Promise<string[]>
  let call: Call

  beforeAll(async () => {
    const one = await tenant()
    call = one.call
    search = async (q, more = {}) => ids(await one.list({ q, ...more }))
    await one.say('warranty', 'How long is the Warranty?', 'Two years, see "refunds".')
    await one.say('zh', '保修多久？', '用Python算过：两年')
    await one.say('ru', 'Где Ёлка?', 'Привет из МОСКВЫ, 50% скидка')
    await one.say('plain', 'prefunding', 'a_b 100%')
    await one.say('named', 'nothing')
    await one.rename('named', 'Élan vital')
    const other = await tenant()
    await other.say('theirs', 'warranty of a stranger')
  })

  test('words and their beginnings are found in texts and titles, in any case', async () => {
    expect(await search('warr')).toEqual(['warranty'])
    expect(await search('YEARS')).toEqual(['warranty'])
    expect(await search('refund')).toEqual(['warranty'])
    expect(await search('python')).toEqual(['zh'])
    expect(await search('привет')).toEqual(['ru'])
    expect(await search('москв ёлка')).toEqual(['ru'])
    expect(await search('élan')).toEqual(['named'])
    expect(await search('ÉLAN VIT')).toEqual(['named'])
  })

  test('a word is not found by its end, nor a conversation by one of two words', async () => {
    expect(await search('arranty')).toEqual([])
    expect(await search('warranty battery')).toEqual([])
    expect(await search('stranger')).toEqual([])
  })

  test('a found conversation quotes the turn that holds most of the words', async () => {
    const { say, list, rename } = await tenant()
    await say('talk', 'How long is the warranty of the battery?', 'Two years.')
    await say(
      'talk',
      'And of the lamp?',
      `${'Well. '.repeat(50)}No Warranty${' at all'.repeat(50)}`,
    )
    await say('talk', '保修多久？', '两年')
    await rename('talk', 'Garden')
    const matchOf = async (q: string) => (await list({ q })).conversations[0]?.match
    expect(await matchOf('warranty battery')).toEqual({
      seq: 1,
      excerpt: 'How long is the warranty of the battery?',
    })
    const { seq, excerpt = '' } = (await matchOf('warr')) ?? {}
    expect(seq).toBe(2)
    expect(excerpt).toMatch(/^…(\w*\.? )*No Warranty at all at all.*…$/)
    expect(await matchOf('保修')).toEqual({ seq: 3, excerpt: '保修多久？' })
    expect(await matchOf('garden')).toBeNull()
    expect((await list()).conversations[0]).not.toHaveProperty('match')
  })

  test('Chinese is found by its characters', async () => {
    expect(await search('修')).toEqual(['zh'])
    expect(await search('保修')).toEqual(['zh'])
    expect(await search('修保')).toEqual([])
    expect(await search('久 两年')).toEqual(['zh'])
  })

  test('signs are no patterns, and a query of signs alone finds nothing', async () => {
    expect(await search('50%')).toEqual(['ru'])
    expect(await search('100%')).toEqual(['plain'])
    expect(await search('w_rranty')).toEqual([])
    expect(await search('%')).toEqual([])
    expect(await search("' OR 1=1 --")).toEqual([])
    expect(await search('*[?]')).toEqual([])
  })

  test('a long conversation is found by words that are far apart', async () => {
    const { say, list } = await tenant()
    await say('long', 'alpha')
    const { tenantId } = await app.person(`t${tenants}@example.com`)
    await app.db.batch(fillers(tenantId, 'long', 2, 1_100))
    await say('long', 'omega')
    await app.db.batch(fillers(tenantId, 'long', 1_103, 500))
    expect(ids(await list({ q: 'alpha omega' }))).toEqual(['long'])
    expect(ids(await list({ q: 'alpha omicron' }))).toEqual([])
    expect((await list({ q: 'omega' })).conversations[0]?.match?.seq).toBe(1_102)
  })

  test('results have pages, and a long query is refused', async () => {
    const all = await search('')
    expect(all).toEqual(['named', 'plain', 'ru', 'zh', 'warranty'])
    const first = (
      await call<ConversationListResponse>('GET', '/conversations?q=pre&limit=1')
    ).json()
    expect(ids(first)).toEqual(['plain'])
    expect(first.next_before).toBeNull()
    expect((await call('GET', `/conversations?q=${'x'.repeat(201)}`)).status).toBe(400)
  })
})
