import { expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { askingTurn, untilEvent } from '../support/asks.ts'
import { detach, replay } from '../support/detached.ts'
import { signIn } from '../support/login.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { tempFolder } from '../support/temp.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const ASKED = { name: 'ask_user', arguments: '{"question":"Which one?"}' }

const answer = async (url: string, headers: Record<string, string>, id: unknown) => {
  const response = await fetch(`${url}/console/agent/asks/${id}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'accept', content: { answer: 'this' } }),
  })
  return response.status
}

const allow = (url: string, headers: Record<string, string>) =>
  fetch(`${url}/console/settings`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"may_ask":true}',
  })

test('a tool whose server was killed before the answer is not called by it', async () => {
  using folder = tempFolder()
  using tools = startMcpServer()
  const upstream = await startUpstream()
  const allowed = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  const env = { MB_LLM_BASE_URL: upstream.baseUrl, MB_LLM_MODEL: 'fake', ...allowed }
  let server = await startServer({ dataDir: folder.path, env })
  const { headers } = await signIn(server)
  const call = caller(`${server.url}/console`, headers)
  const made = { name: 'home', url: tools.url }
  const { id } = (await call<{ id: string }>('POST', '/mcp-servers', made)).json()
  await call('PUT', `/mcp-servers/${id}/tools`, { approved: ['echo'], ask: ['echo'] })
  await call('PUT', '/settings', { mcp_tools: ['home__*'] })
  upstream.reply({ toolCalls: [{ name: 'home__echo', arguments: '{"text":"hi"}' }] })
  const body = { text: 'x', session_id: 'a', interactive: true }
  const stream = await detach(server.url, headers, body)
  const { data } = await stream.until(({ type }) => type === 'ask')
  await server.kill()
  server = await startServer({ dataDir: folder.path, env })
  expect(await answer(server.url, headers, data.id)).toBe(404)
  expect(await answer(server.url, headers, data.id)).toBe(404)
  expect(tools.methods()).not.toContain('tools/call')
  await server.stop()
  await upstream.stop()
}, 60_000)

test('a detached turn waits on without its reader, and another window answers', async () => {
  const upstream = await startUpstream()
  await using app = await startApp({ upstream: upstream.baseUrl })
  const { headers } = await app.person('window@example.com')
  await allow(app.url, headers)
  upstream.reply({ toolCalls: [ASKED] })
  const first = await detach(app.url, headers, { text: 'x', session_id: 'a', interactive: true })
  const turn = String((await first.until(({ type }) => type === 'turn')).data.turn_id)
  await first.until(({ type }) => type === 'ask')
  first.leave()
  const second = await replay(app.url, headers, turn)
  const { data } = await second.until(({ type }) => type === 'ask')
  expect(await answer(app.url, headers, data.id)).toBe(200)
  const events = await second.all()
  expect(events.map(({ type }) => type)).toContain('ask_done')
  expect(events.at(-1)?.type).toBe('llm_end')
  await upstream.stop()
}, 60_000)

/** Two servers that share a database. */
async function pair(work: (a: TestApp, b: TestApp, upstream: Upstream) => Promise<void>) {
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
  await work(a, b, upstream)
  await upstream.stop()
}

test.skipIf(!hasPostgres())(
  'an answer at another server reaches the turn, once',
  () =>
    pair(async (a, b, upstream) => {
      const { headers } = await a.person('two@example.com')
      await allow(a.url, headers)
      const stream = await askingTurn({ app: a, upstream }, headers, {
        ...{ path: '/console/agent', name: ASKED.name, args: { question: 'Which one?' } },
      })
      const { data } = await untilEvent(stream, 'ask')
      const answers = [
        answer(b.url, headers, data.id),
        answer(b.url, headers, data.id),
        answer(a.url, headers, data.id),
      ]
      expect((await Promise.all(answers)).sort()).toEqual([200, 410, 410])
      expect((await stream.all()).at(-1)?.event).toBe('llm_end')
      expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('this')
    }),
  60_000,
)

test.skipIf(!hasPostgres())(
  'an ask dies with the server that runs its turn',
  () =>
    pair(async (a, b, upstream) => {
      const { headers } = await a.person('two@example.com')
      await allow(a.url, headers)
      const stream = await askingTurn({ app: a, upstream }, headers, {
        ...{ path: '/console/agent', name: ASKED.name, args: { question: 'Which one?' } },
      })
      const { data } = await untilEvent(stream, 'ask')
      // A row whose turn is nowhere, as a server that was killed leaves it.
      await a.db.run({
        sql: `INSERT INTO open_ask (id, tenant_id, user_id, question, expires_at)
          SELECT 'left', tenant_id, user_id, question, expires_at FROM open_ask WHERE id = ?`,
        args: [String(data.id)],
      })
      expect(await answer(b.url, headers, 'left')).toBe(404)
      expect(await answer(b.url, headers, 'left')).toBe(404)
      expect(await answer(b.url, headers, data.id)).toBe(200)
      await stream.all()
    }),
  60_000,
)
