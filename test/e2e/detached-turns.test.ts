import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startApp } from '../support/app.ts'
import { openBoxFile } from '../support/box-file.ts'
import { detach, replay } from '../support/detached.ts'
import { signIn } from '../support/login.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { sharing } from '../support/sharing.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

interface Pending {
  readonly turn_id: string
  readonly state: string
  readonly text: string
  readonly partial: string
}

const WORDS = Array.from({ length: 20 }, (_, index) => `w${index} `)

/** A model that writes `count` words and then falls silent. */
const silentAfter = (upstream: Upstream, count: number) =>
  upstream.reply({ pieces: WORDS, hold: { after: count, until: new Promise(() => {}) } })

async function pendingOf(url: string, headers: Record<string, string>, id: string) {
  const answer = await fetch(`${url}/console/conversations/${id}`, { headers })
  expect([id, answer.status]).toEqual([id, 200])
  return ((await answer.json()) as { pending: Pending[] }).pending
}

/** Waits until the word lies in the database file. */
async function untilStored(dataDir: string, turnId: string, word: string): Promise<void> {
  const db = openBoxFile(join(dataDir, 'moonbase.db'), { readonly: true })
  const read = db.query<{ events: string }, [string]>(
    "SELECT events FROM talk_event WHERE turn_id LIKE '%' || ?",
  )
  while (!read.all(turnId).some(({ events }) => events.includes(word))) await pause(50)
  db.close()
}

test('kill -9 leaves a question, which is not asked again, and all stored words', async () => {
  using folder = tempFolder()
  const upstream = await startUpstream()
  const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
  const start = () => startServer({ dataDir: folder.path, env })
  let server = await start()
  const { headers } = await signIn(server)
  for (let round = 0; round < 2; round++) {
    const talks: { id: string; turnId: string; count: number }[] = []
    for (let index = 0; index < 4; index++) {
      const count = 4 * round + index + 1
      silentAfter(upstream, Math.min(count, WORDS.length - 1))
      const id = `talk-${round}-${index}`
      const body = { text: `问 ${id}`, session_id: id, turn_id: crypto.randomUUID() }
      const stream = await detach(server.url, headers, body)
      const { data } = await stream.until(({ type }) => type === 'turn')
      const words = Math.min(count, WORDS.length - 1)
      await stream.until(({ id: place }) => place === words + 1)
      talks.push({ id, turnId: String(data.turn_id), count: words })
    }
    // The last one is killed at once, so its words may be those of the last second.
    for (const { turnId, count } of talks.slice(0, -1)) {
      await untilStored(folder.path, turnId, `"${WORDS[count - 1]}"`)
    }
    await server.kill()
    server = await start()
    for (const [index, { id, turnId, count }] of talks.entries()) {
      const [pending] = await pendingOf(server.url, headers, id)
      expect(pending).toMatchObject({ turn_id: turnId, state: 'interrupted', text: `问 ${id}` })
      const written = WORDS.slice(0, count).join('')
      if (index < 3) expect(pending?.partial).toBe(written)
      else expect(written).toStartWith(pending?.partial ?? '-')
      const events = await replay(server.url, headers, turnId)
      expect(events.status).toBe(404)
      const body = { text: `问 ${id}`, session_id: id, turn_id: turnId }
      const resent = await detach(server.url, headers, body)
      expect(resent.status).toBe(404)
      expect(await pendingOf(server.url, headers, id)).toEqual(pending ? [pending] : [])
    }
    const [first, second] = talks
    const dropped = await fetch(`${server.url}/console/agent/turns/${first?.turnId}`, {
      method: 'DELETE',
      headers,
    })
    expect(await dropped.json()).toEqual({ id: first?.turnId, deleted: true })
    upstream.reply({ text: '好' })
    const body = { text: '又问', session_id: second?.id }
    const again = await detach(server.url, headers, body)
    expect((await again.all()).at(-1)).toMatchObject({ type: 'llm_end', data: { seq: 1 } })
    expect(await pendingOf(server.url, headers, second?.id ?? '')).toEqual([])
  }
  await server.stop()
  await upstream.stop()
}, 120_000)

test('an answered stop survives kill -9, and a stop in good order keeps the words', async () => {
  using folder = tempFolder()
  const upstream = await startUpstream()
  const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake' }
  const start = () => startServer({ dataDir: folder.path, env })
  let server = await start()
  const { headers } = await signIn(server)
  const begin = async (id: string) => {
    silentAfter(upstream, 2)
    const stream = await detach(server.url, headers, { text: '问', session_id: id })
    await stream.until(({ id: place }) => place === 3)
    return String(stream.events[0]?.data.turn_id)
  }
  const stopped = await begin('stopped')
  const path = `/console/agent/turns/${stopped}/stop`
  const answer = await fetch(server.url + path, { method: 'POST', headers })
  expect(await answer.json()).toEqual({ turn_id: stopped, stored: true })
  await server.kill()
  server = await start()
  expect(await pendingOf(server.url, headers, 'stopped')).toEqual([])
  await begin('kept')
  expect(await server.stop()).toBe(0)
  server = await start()
  expect(await pendingOf(server.url, headers, 'kept')).toMatchObject([
    { state: 'interrupted', partial: 'w0 w1 ' },
  ])
  await server.stop()
  await upstream.stop()
}, 60_000)

/** Two servers of one database, and somebody who is signed in at both. */
async function twoServers() {
  await using stack = new AsyncDisposableStack()
  const postgres = stack.use(await startPostgres('all'))
  const upstream = await startUpstream()
  stack.defer(() => upstream.stop())
  const env = {
    ...sharing(postgres.url),
    MB_LLM_BASE_URL: upstream.baseUrl,
    MB_LLM_MODEL: 'fake',
  }
  const a = stack.use(await startApp({ env }))
  const b = stack.use(await startApp({ env }))
  const { headers } = await a.person('two@example.com')
  const open = stack.move()
  return { a, b, upstream, headers, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

test.skipIf(!hasPostgres())(
  'another server replays a turn, and stops it',
  async () => {
    await using servers = await twoServers()
    const { a, b, upstream, headers } = servers
    silentAfter(upstream, 3)
    const here = await detach(a.url, headers, { text: '问', session_id: 'a' })
    await here.until(({ id }) => id === 4)
    const turnId = String(here.events[0]?.data.turn_id)
    const there = await replay(b.url, headers, turnId)
    await there.until(({ id }) => id === 4)
    expect(await pendingOf(b.url, headers, 'a')).toMatchObject([
      { state: 'running', partial: 'w0 w1 w2 ' },
    ])
    const stop = await fetch(`${b.url}/console/agent/turns/${turnId}/stop`, {
      method: 'POST',
      headers,
    })
    expect(await stop.json()).toEqual({ turn_id: turnId, stored: true })
    const both = [await here.all(), await there.all()]
    expect(both[1]).toEqual([...(both[0] ?? [])])
    expect(both[0]?.at(-1)).toMatchObject({ type: 'llm_end', data: { stopped: true, seq: 1 } })
  },
  60_000,
)

test.skipIf(!hasPostgres())(
  'a question that reaches two servers at once, many times, is taken once',
  async () => {
    await using servers = await twoServers()
    const { a, b, upstream, headers } = servers
    const ids = Array.from({ length: 4 }, (_, index) => `talk-${index}`)
    const told = await Promise.all(
      ids.map(async (session_id) => {
        const body = { text: '问', session_id, turn_id: crypto.randomUUID() }
        const sent = [a, b, a, b].map(({ url }) => detach(url, headers, body))
        const streams = await Promise.all(sent)
        return Promise.all(streams.map((stream) => stream.all()))
      }),
    )
    for (const [first = [], ...others] of told) {
      expect(first.at(-1)).toMatchObject({ type: 'llm_end', data: { seq: 1 } })
      for (const other of others) expect(other).toEqual([...first])
    }
    expect(upstream.requests.filter(({ path }) => path.includes('chat'))).toHaveLength(ids.length)
  },
  60_000,
)

test.skipIf(!hasPostgres())(
  'another server shows the title of a talk, and no words of the provider',
  async () => {
    await using postgres = await startPostgres('all')
    const upstream = await startUpstream()
    const env = {
      MB_DATABASE_URL: postgres.url,
      MB_SESSION_SECRET: 'a'.repeat(64),
      MB_ENCRYPTION_KEY: 'b'.repeat(64),
      MB_LLM_BASE_URL: upstream.baseUrl,
      MB_LLM_MODEL: 'fake',
    }
    await using a = await startApp({ env })
    await using b = await startApp({ env })
    const { headers } = await a.operator()
    upstream.titles.reply({ text: '第一次谈话' })
    await (await detach(a.url, headers, { text: '问', session_id: 'a' })).all()
    const path = `${b.url}/console/conversations/a`
    const title = async () =>
      ((await (await fetch(path, { headers })).json()) as { title: string }).title
    while ((await title()) === '问') await pause(50)
    expect([await title(), upstream.named.requests.length]).toEqual(['第一次谈话', 1])
    const body = JSON.stringify({ error: { message: 'the flux capacitor is empty' } })
    upstream.fault(400, { body })
    const here = await detach(a.url, headers, { text: '又问', session_id: 'a' })
    const last = (await here.all()).at(-1)
    expect(last?.data).toMatchObject({ status: 400, detail: 'the flux capacitor is empty' })
    const there = await replay(b.url, headers, String(here.events[0]?.data.turn_id))
    const { detail: _, ...kept } = last?.data ?? {}
    expect((await there.all()).at(-1)?.data).toEqual(kept)
    await upstream.stop()
  },
  60_000,
)
