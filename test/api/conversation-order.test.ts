import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock()
let upstream: Upstream
let app: TestApp
let tenants = 0
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

interface Page {
  readonly conversations: readonly {
    readonly id: string
    readonly folder: string | null
    readonly pinned: boolean
    readonly archived: boolean
  }[]
  readonly next_before: string | null
}

async function tenant() {
  const { headers } = await app.person(`order${++tenants}@example.com`)
  const call: Call = caller(`${app.url}/console`, headers)
  return {
    call,
    async say(session_id: string, text: string) {
      clock.advance(1_000)
      const body = { session_id, text }
      await (await postSse(`${app.url}/console/agent`, { headers, body })).all()
    },
    async ids(query = '') {
      const page = (await call<Page>('GET', `/conversations${query}`)).json()
      return page.conversations.map(({ id }) => id)
    },
  }
}

describe('conversations in order', () => {
  test('pinned ones come first, across pages', async () => {
    const { call, say, ids } = await tenant()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await say(name, name)
    for (const name of ['a', 'c', 'd'])
      await call('PUT', `/conversations/${name}`, { pinned: true })
    expect(await ids()).toEqual(['d', 'c', 'a', 'e', 'b'])
    for (const limit of [1, 2, 3, 4]) {
      const seen: string[] = []
      for (let before: string | null = ''; before !== null; ) {
        const query: string = `?limit=${limit}&before=${encodeURIComponent(before)}`
        const page: Page = (await call<Page>('GET', `/conversations${query}`)).json()
        seen.push(...page.conversations.map(({ id }) => id))
        before = page.next_before
      }
      expect(seen).toEqual(['d', 'c', 'a', 'e', 'b'])
    }
  })

  test('what is omitted stays; a folder and the archive choose what is listed', async () => {
    const { call, say, ids } = await tenant()
    for (const name of ['a', 'b', 'c']) await say(name, `walrus ${name}`)
    const put = (id: string, body: object) => call('PUT', `/conversations/${id}`, body)
    await put('a', { folder: ' Work ', title: 'T' })
    expect((await put('a', { pinned: true })).json()).toMatchObject({
      ...{ id: 'a', title: 'T', folder: 'Work', pinned: true, archived: false },
    })
    await put('b', { archived: true })
    expect(await ids()).toEqual(['a', 'c'])
    expect(await ids('?archived=true')).toEqual(['b'])
    expect(await ids('?folder=Work')).toEqual(['a'])
    expect((await ids('?q=walrus')).sort()).toEqual(['a', 'b', 'c'])
    expect(await ids('?q=walrus&archived=true')).toEqual(['b'])
    expect((await put('a', { folder: ' ' })).json()).toMatchObject({ folder: null, pinned: true })
    for (const body of [{ folder: 'x'.repeat(61) }, { pinned: 1 }, { archived: 'x' }]) {
      expect((await put('a', body)).status).toBe(400)
    }
    expect((await put('nobody', { pinned: true })).status).toBe(404)
    expect((await call('GET', '/conversations?archived=x')).status).toBe(400)
  })
})

describe('the export of one conversation', () => {
  test('has all turns, oldest first, in three forms', async () => {
    const { call, say } = await tenant()
    await say('a/ü', 'first <script>alert(1)</script>')
    await say('a/ü', 'second')
    const path = `/sessions/${encodeURIComponent('a/ü')}/export`
    const json = await call('GET', `${path}?format=json`)
    expect(json.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[\x20-\x7e]+\.json"$/,
    )
    const exported = JSON.parse(json.text)
    expect(exported).toMatchObject({ session_id: 'a/ü', title: expect.any(String) })
    expect(exported.turns.map(({ user_text }: { user_text: string }) => user_text)).toEqual([
      'first <script>alert(1)</script>',
      'second',
    ])
    const html = await call('GET', `${path}?format=html`)
    expect(html.headers.get('content-type')).toStartWith('text/html')
    expect(html.text).not.toContain('<script')
    const md = await call('GET', path)
    expect(md.headers.get('content-type')).toStartWith('text/markdown')
    expect(md.text.indexOf('first')).toBeLessThan(md.text.indexOf('second'))
    expect((await call('GET', `${path}?format=pdf`)).status).toBe(400)
    expect((await call('GET', '/sessions/nobody/export')).status).toBe(404)
  })

  test("an app's key exports its app's conversations alone", async () => {
    const mail = `order${++tenants}@example.com`
    const general = caller(`${app.url}/v1`, (await app.key(mail)).headers)
    const keys: Readonly<Record<string, string>>[] = []
    for (const name of ['one', 'two']) {
      const { id } = (await general<{ id: string }>('POST', '/apps', { name })).json()
      keys.push((await app.key(mail, { appId: id })).headers)
    }
    const [one, two] = keys.map((headers) => caller(`${app.url}/v1`, headers))
    const body = { text: 'first words', session_id: 's' }
    await (await postSse(`${app.url}/v1/agent`, { headers: keys[0] ?? {}, body })).all()
    expect((await one?.('GET', '/sessions/s/export'))?.status).toBe(200)
    expect((await two?.('GET', '/sessions/s/export'))?.status).toBe(404)
    expect((await general('GET', '/sessions/s/export')).status).toBe(200)
    const later = { text: 'mine', session_id: 's' }
    await (await postSse(`${app.url}/v1/agent`, { headers: keys[1] ?? {}, body: later })).all()
    const branch = await two?.<{ session_id: string }>('POST', '/sessions/s/branch', { seq: 2 })
    for (const [id, title] of [
      ['s', 'first words'],
      [branch?.json().session_id, 'mine (2)'],
    ]) {
      const path = `/sessions/${id}/export?format=json`
      const own = await two?.<{ turns: { user_text: string }[] }>('GET', path)
      expect(own?.json()).toMatchObject({ title: 'mine', turns: [{ user_text: 'mine' }] })
      expect((await general('GET', path)).json()).toMatchObject({ title })
    }
  })
})
