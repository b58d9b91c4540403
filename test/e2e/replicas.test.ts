import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { openSocket } from '../../scripts/device/board.ts'
import { sql } from '../../src/storage/db.ts'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey, type TestPerson } from '../support/app.ts'
import { startingBoard, ask as type } from '../support/board.ts'
import { createBrowser } from '../support/browser.ts'
import { detach } from '../support/detached.ts'
import { requestCode, verifyCode } from '../support/login.ts'
import { startIssuer } from '../support/openid-issuer.ts'
import { hasPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'
import { postSse } from '../support/sse.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const never = new Promise(() => {})
const userTexts = (messages: { role: string; content: string }[]) =>
  messages.filter(({ role }) => role === 'user').map(({ content }) => content)

/** Server A runs in this process and B in one of its own; each has a data folder of its own. */
describe.skipIf(!hasPostgres()).each(['listen', 'ask'])('two servers that %s', (way) => {
  let postgres: TestPostgres
  let folder: TempFolder
  let upstream: Upstream
  let issuer: Awaited<ReturnType<typeof startIssuer>>
  let env: Readonly<Record<string, string>>
  let a: TestApp
  let b: Server
  let key: TestKey
  let operator: TestPerson

  beforeAll(async () => {
    ;[postgres, upstream, issuer] = await Promise.all([
      startPostgres('all'),
      startUpstream(),
      startIssuer(),
    ])
    folder = tempFolder()
    env = {
      MB_DATABASE_URL: postgres.url,
      ...(way === 'listen' ? { MB_DATABASE_DIRECT_URL: postgres.url } : {}),
      MB_SESSION_SECRET: 'a'.repeat(64),
      MB_ENCRYPTION_KEY: 'b'.repeat(64),
      MB_TRUST_PROXY: '1',
      MB_LLM_BASE_URL: upstream.baseUrl,
      MB_LLM_MODEL: 'fake',
      ...issuer.settings,
    }
    ;[a, b] = await Promise.all([startApp({ env }), startServer({ dataDir: folder.path, env })])
    operator = await a.operator()
    key = await a.key()
  })
  afterEach(() => upstream.reset())
  afterAll(async () => {
    await b.stop()
    await a[Symbol.asyncDispose]()
    await Promise.all([upstream.stop(), issuer.stop(), postgres[Symbol.asyncDispose]()])
    folder[Symbol.dispose]()
  })

  const ask = (url: string, session_id: string, text: string, { headers } = key) =>
    postSse(`${url}/v1/agent`, { headers, body: { text, session_id, kb: false } })
  const history = async (url: string, id: string) => {
    const answer = await fetch(`${url}/v1/sessions/${id}/history`, { headers: key.headers })
    return ((await answer.json()) as { messages: { role: string; content: string }[] }).messages
  }
  const lastOf = async (stream: Awaited<ReturnType<typeof ask>>) =>
    (await stream.all()).at(-1)?.data
  const tickets = async (sessionId: string) =>
    (await a.db.all(sql`SELECT 1 AS one FROM turn_ticket WHERE session_id = ${sessionId}`)).length

  test('fifty turns of a session run in the order in which they came to both', async () => {
    const gate = Promise.withResolvers<void>()
    upstream.reply({ text: 'slow', hold: { after: 0, until: gate.promise } })
    const turns = []
    // Without being woken, the two hand over four times a second.
    const each = way === 'listen' ? 3 : 20
    for (let n = 1; n <= 50; n++) {
      turns.push(await ask(n % each ? a.url : b.url, 'order', `${n}`))
      while ((await tickets('order')) !== n);
    }
    gate.resolve()
    const ends = await Promise.all(turns.map(lastOf))
    expect(ends.filter((end) => end?.type !== 'llm_end')).toEqual([])
    const rows = await a.db.all<{ user_text: string }>(sql`
      SELECT user_text FROM turn WHERE session_id = 'order' ORDER BY seq`)
    expect(rows.map(({ user_text }) => user_text)).toEqual(
      Array.from({ length: 50 }, (_, i) => `${i + 1}`),
    )
  })

  test('each turn remembers the one before, which the other answered', async () => {
    for (const [n, url] of [a.url, b.url, a.url].entries()) {
      await lastOf(await ask(url, 'memory', `question ${n}`))
    }
    const asked = upstream.requests.at(-1)?.body as {
      messages: { role: string; content: string }[]
    }
    expect(userTexts(asked.messages)).toEqual(['question 0', 'question 1', 'question 2'])
    await fetch(`${b.url}/v1/sessions/memory`, { method: 'DELETE', headers: key.headers })
    await lastOf(await ask(a.url, 'memory', 'anew'))
    expect(userTexts(await history(b.url, 'memory'))).toEqual(['anew'])
  })

  test('one of two hundred simultaneous activations of a code gets a key', async () => {
    const answer = await fetch(`${a.url}/v1/devices`, {
      method: 'POST',
      headers: key.headers,
      body: JSON.stringify({ name: 'd' }),
    })
    const { activation_code: code } = (await answer.json()) as { activation_code: string }
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const { status } = await fetch(`${n % 2 ? a.url : b.url}/v1/devices/activate`, {
          method: 'POST',
          headers: { 'x-forwarded-for': `10.0.${n >> 3}.1` },
          body: JSON.stringify({ code }),
        })
        return status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 410)).toHaveLength(199)
  })

  test('a limit of sixty requests lets sixty through, and one of an address its ten', async () => {
    const { headers } = await a.key('limited@example.com', { rateLimit: 60 })
    const count = async (calls: number, send: (url: string) => Promise<Response>) => {
      const sent = Array.from({ length: calls }, (_, n) => send(n % 2 ? a.url : b.url))
      return (await Promise.all(sent)).filter(({ status }) => status !== 429).length
    }
    expect(await count(90, (url) => fetch(`${url}/v1/models`, { headers }))).toBe(60)
    const tryCode = (url: string) =>
      fetch(`${url}/v1/devices/activate`, {
        method: 'POST',
        headers: { 'x-forwarded-for': '203.0.113.9' },
        body: JSON.stringify({ code: 'x' }),
      })
    expect(await count(30, tryCode)).toBe(10)
  })

  test('a key that one revokes is refused by the other, and its turn there ends', async () => {
    const revoked = await a.key()
    upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: never } })
    const turn = await ask(b.url, 'revoked', 'hi', revoked)
    for await (const { data } of turn) if (data.type === 'llm_delta') break
    const person = caller(`${a.url}/console`, (await a.person()).headers)
    expect((await person('DELETE', `/keys/${revoked.id}`)).status).toBe(200)
    const used = await fetch(`${b.url}/v1/models`, { headers: revoked.headers })
    expect(used.status).toBe(401)
    expect(await lastOf(turn)).toMatchObject({ type: 'error', code: 'invalid_key' })
    expect(await history(a.url, 'revoked')).toEqual([])
  })

  test('a login code of one is verified by the other, once', async () => {
    const code = await requestCode(a, 'coded@example.com')
    const wrong = code === '000000' ? '000001' : '000000'
    expect((await verifyCode(a, 'coded@example.com', wrong)).status).toBe(401)
    expect((await verifyCode(b, 'coded@example.com', code)).status).toBe(200)
    expect((await verifyCode(a, 'coded@example.com', code)).status).toBe(401)
  })

  test('a login by OpenID that began at one ends at the other', async () => {
    const host = { 'x-forwarded-host': 'moonbase.example' }
    issuer.open('http://moonbase.example/auth/oauth/oidc/callback')
    issuer.signsIn({ sub: 'ada', email: 'ada@example.com', email_verified: true })
    const begun = await fetch(`${a.url}/auth/oauth/oidc`, { headers: host, redirect: 'manual' })
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? ''
    const isBack = (url: URL) => url.host === 'moonbase.example'
    const location = begun.headers.get('location') ?? ''
    const { pathname, search } = await createBrowser().follow(location, isBack)
    const headers = { ...host, cookie }
    const ended = await fetch(b.url + pathname + search, { headers, redirect: 'manual' })
    expect(ended.headers.get('location')).toBe('/')
    expect(ended.headers.getSetCookie().join()).toContain('mb_session=')
  })

  test('a setting that is changed at one holds at the other', async () => {
    const { headers } = operator
    const console = caller(`${a.url}/console`, headers)
    const put = await console('PUT', '/system', { MB_SIGNUP: 'closed' })
    expect(put.status).toBe(200)
    const shown = async () => {
      // A person has 600 requests a minute, which a loop without a pause uses up in a second.
      await Bun.sleep(20)
      const answer = await fetch(`${b.url}/console/system`, { headers })
      const { settings } = (await answer.json()) as { settings: { name: string; value: string }[] }
      return settings.find(({ name }) => name === 'MB_SIGNUP')?.value
    }
    while ((await shown()) !== 'closed');
    expect((await console('PUT', '/system', { MB_SIGNUP: null })).status).toBe(200)
    while ((await shown()) === 'closed');
  })

  test('a board is paired at the other server, and its newest socket stays', async () => {
    const board = startingBoard(a)
    const there = startingBoard(b, { mac: board.mac, clientId: board.clientId })
    const digits = (await board.start()).activation?.code
    expect((await there.start()).activation?.code).toBe(digits)
    const pair = await fetch(`${b.url}/v1/devices/pair`, {
      method: 'POST',
      headers: key.headers,
      body: JSON.stringify({ code: digits, name: 'd' }),
    })
    expect(pair.status).toBe(201)
    const { id } = (await pair.json()) as { id: string }
    const older = await openSocket((await board.start()).websocket)
    await older.next('hello')
    const newer = await openSocket((await there.start()).websocket)
    await newer.next('hello')
    expect(await older.closed).toEqual({ code: 1008, reason: 'replaced' })
    type(newer, 'hi')
    await newer.next('stt')
    // Else the script of the next test would answer this turn.
    await newer.next('tts', 'stop')
    const { headers } = await a.person()
    const boards = await fetch(`${a.url}/console/boards`, { headers })
    expect(((await boards.json()) as { connected: string[] }).connected).toEqual([id])
    newer.raw.close()
  })

  test('the turn of a server that is killed is not stored, and the next one runs', async () => {
    upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: never } })
    const turn = await ask(b.url, 'killed', 'first')
    for await (const { data } of turn) if (data.type === 'llm_delta') break
    await b.kill()
    // Twenty seconds of silence.
    await a.db.all(sql`
      UPDATE turn_ticket SET at = at - interval '1 minute' WHERE session_id = 'killed'`)
    await a.db.all(sql`
      UPDATE replica SET seen_at = seen_at - interval '1 minute' WHERE id = (
        SELECT replica FROM turn_ticket WHERE session_id = 'killed')`)
    expect(await lastOf(await ask(a.url, 'killed', 'second'))).toMatchObject({ type: 'llm_end' })
    expect(userTexts(await history(a.url, 'killed'))).toEqual(['second'])
    b = await startServer({ dataDir: folder.path, env })
    expect(userTexts(await history(b.url, 'killed'))).toEqual(['second'])
  })

  test('a server that was killed knows at its next start that its turns are over', async () => {
    upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: never } })
    const { headers } = operator
    const turn = await detach(b.url, headers, { text: 'hi', session_id: 'left', kb: false })
    await turn.until(({ type }) => type === 'llm_delta')
    await b.kill()
    const left = async (url: string) => {
      const read = caller(`${url}/console`, headers)
      return (await read('GET', '/conversations/left')).json().pending
    }
    // The other server cannot know yet.
    expect(await left(a.url)).toMatchObject([{ state: 'running', text: 'hi' }])
    b = await startServer({ dataDir: folder.path, env })
    expect(await left(b.url)).toMatchObject([{ state: 'interrupted', text: 'hi' }])
    expect(await left(a.url)).toMatchObject([{ state: 'interrupted', text: 'hi' }])
  })

  test('a new turn drops the one of a server that was killed, before its lease ends', async () => {
    upstream.reply({ pieces: ['one ', 'two'], hold: { after: 1, until: never } })
    const { headers } = operator
    const turn = await detach(b.url, headers, { text: 'first', session_id: 'behind', kb: false })
    await turn.until(({ type }) => type === 'llm_delta')
    await b.kill()
    // Twenty seconds of silence.
    await a.db.all(sql`
      UPDATE turn_ticket SET at = at - interval '21 seconds' WHERE session_id = 'behind'`)
    await a.db.all(sql`
      UPDATE replica SET seen_at = seen_at - interval '21 seconds' WHERE id = (
        SELECT replica FROM turn_ticket WHERE session_id = 'behind')`)
    const pending = async (id: string) => {
      const read = caller(`${a.url}/console`, headers)
      return (await read('GET', `/conversations/${id}`)).json().pending
    }
    expect(await pending('behind')).toMatchObject([{ state: 'running' }])
    const body = { text: 'second', session_id: 'behind', kb: false }
    const next = await postSse(`${a.url}/console/agent`, { headers, body })
    expect((await next.all()).at(-1)?.event).toBe('llm_end')
    expect(await pending('behind')).toEqual([])
    b = await startServer({ dataDir: folder.path, env })
  })
})
