import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { DAY_MS } from '../../src/core/clock.ts'
import { sql } from '../../src/storage/db.ts'
import { type Call, SURFACES, type Surface, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { untilEvent } from '../support/asks.ts'
import { quietClock } from '../support/clock.ts'
import { allRoutes } from '../support/routes.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const OWNER = 'owner@example.com'
const STRANGER = 'stranger@example.com'
/** In everything that the owner has. */
const MARK = '机密甲'
const UNKNOWN = '01890000-0000-7000-8000-000000000000'
/** Good for every route: each reads what it knows. */
const BODY = {
  action: 'accept',
  ...{ name: 'stolen', prompt: 'stolen', text: 'stolen', title: 'stolen', q: MARK },
  events: ['run.done'],
  seq: 1,
  rating: 1,
  refresh: 'off',
  role: 'viewer',
  ...{ url: 'https://stolen.example.com/', approved: [], tool: 'echo', arguments: {} },
}

let upstream: Upstream
let app: TestApp
let owner: Record<Surface, Call>
let stranger: Record<Surface, Call>
let ids: Record<string, string>

type Maker = (call: Call) => Promise<string>

const idOf =
  (path: string, body: unknown, status = 201): Maker =>
  async (call) => {
    const answer = await call<{ id: string }>('POST', path, body)
    expect(answer.status).toBe(status)
    return answer.json().id
  }

/** How to make what the `:id` of a section of routes stands for. */
const MAKERS: Readonly<Record<string, Maker>> = {
  apps: idOf('/apps', { name: MARK, system_prompt: MARK }),
  models: idOf('/apps', { name: MARK, system_prompt: MARK }),
  personas: idOf('/personas', { name: MARK, prompt: MARK, is_default: true }),
  keys: idOf('/keys', {}),
  devices: idOf('/devices', { name: MARK }),
  members: idOf('/members', { email: 'guest@example.com', role: 'viewer' }),
  'kb/docs': idOf('/kb/docs', { title: MARK, text: `${MARK}的内容` }),
  'kb/collections': idOf('/kb/collections', { name: MARK, description: MARK }),
  'kb/sources': async (call) => {
    const body = { url: `${upstream.baseUrl}/none`, title: MARK }
    const { id } = (await call<{ id: string }>('POST', '/kb/urls', body)).json()
    await app.jobs.idle()
    return id
  },
  'mcp-servers': (call) =>
    idOf('/mcp-servers', { name: 'mark', url: `${upstream.baseUrl}/${MARK}` })(call),
  files: async (call) => {
    const form = new FormData()
    form.set('file', new File([MARK], `${MARK}.txt`))
    const { headers } = await app.person(OWNER)
    const init = { method: 'POST', headers: { ...headers, origin: app.url }, body: form }
    const answer = await fetch(`${app.url}/console/files`, init)
    const { id } = (await answer.json()) as { id: string }
    await app.jobs.idle()
    await call('GET', `/files/${id}`)
    return id
  },
  memories: idOf('/memories', { text: MARK, subject: 'ann' }),
  webhooks: idOf('/webhooks', { name: MARK, url: 'https://a.example.com/', events: ['run.done'] }),
  triggers: idOf('/triggers', { name: MARK, text: MARK }),
  prompts: idOf('/prompts', { name: 'mark', title: MARK, text: MARK }),
  runs: (call) => idOf('/runs', { text: MARK, at: tomorrow() }, 202)(call),
  schedules: idOf('/schedules', { name: MARK, text: MARK, cron: '0 8 1 1 *' }),
  notices: usedNotice,
  sessions: usedSession,
  conversations: usedSession,
  'agent/turns': usedTurn,
  'agent/asks': openAsk,
}

/** A turn that waits for its person until the test ends. */
async function openAsk() {
  const { headers } = await app.person(OWNER)
  const question = JSON.stringify({ question: MARK })
  upstream.reply({ toolCalls: [{ name: 'ask_user', arguments: question }] })
  const body = { text: MARK, session_id: 'asks', interactive: true, draft: { may_ask: true } }
  const stream = await postSse(`${app.url}/console/agent`, { headers, body })
  return String((await untilEvent(stream, 'ask')).data.id)
}

const tomorrow = () => new Date(Date.now() + DAY_MS).toISOString()

async function usedNotice() {
  const id = 'notice-of-owner'
  await app.db.run(sql`
    INSERT INTO notice (id, tenant_id, run_id, session_id, text, due_at, made_at, user_id)
    SELECT ${id}, tenant_id, 'run', 's', ${MARK}, 0, ${Date.now()}, id FROM "user"
    WHERE email = ${OWNER}`)
  return id
}

async function usedTurn() {
  const { headers } = await app.person(OWNER)
  const body = { text: MARK, session_id: MARK, detached: true }
  const events = await (await postSse(`${app.url}/console/agent`, { headers, body })).all()
  return String(events[0]?.data.turn_id)
}

async function usedSession() {
  const { headers } = await app.person(OWNER)
  const body = { text: MARK, session_id: MARK }
  const stream = await postSse(`${app.url}/console/agent`, { headers, body })
  await stream.all()
  return encodeURIComponent(MARK)
}

/** Those of the operator are for no tenant; permissions.test.ts keeps everybody else out. */
const routes = allRoutes().filter(({ path }) => /^\/(v1|console)\/(?!system\b)/.test(path))
/** What stands before the id, without the surface. */
const sectionOf = (path: string) => path.replace(/^\/\w+\/|\/:id.*$/g, '')
const withId = routes.filter(({ path }) => path.includes(':id'))
const withoutId = routes.filter(({ path }) => !path.includes(':'))

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    upstream: upstream.baseUrl,
    // A server of tools that is asked again after a minute would change a list meanwhile.
    clock: quietClock(),
    env: {
      MB_EMBED_BASE_URL: upstream.baseUrl,
      MB_EMBED_MODEL: 'fake-embed',
      MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    },
  })
  const both = async (email: string) =>
    Object.fromEntries(
      await Promise.all(SURFACES.map(async (name) => [name, await surfaceOf(app, name, email)])),
    ) as Record<Surface, Call>
  owner = await both(OWNER)
  stranger = await both(STRANGER)
  ids = {}
  for (const section of new Set(withId.map(({ path }) => sectionOf(path)))) {
    const made = await MAKERS[section]?.(owner['/console'])
    if (made) ids[section] = made
  }
  await owner['/console']('PUT', '/settings', { model: MARK })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

/** Facts are listed by whom they are about. */
const at = (path: string) => (path === '/memories' ? `${path}?subject=ann` : path)

/** Everything the owner can see of what is theirs. */
async function everything() {
  const lists = withoutId.filter(({ method, path }) => method === 'GET' && !/usage|logs/.test(path))
  const shown: Record<string, string> = {}
  for (const { path } of lists) {
    const surface = path.startsWith('/v1') ? '/v1' : '/console'
    const { text } = await owner[surface]('GET', at(path.slice(surface.length)))
    // Looking counts as use of the key.
    shown[path] = text.replace(/"(exported_at|last_used_at|calls_7d)":("[^"]+"|\w+)/g, '')
  }
  for (const part of ['history', 'transcript']) {
    shown[part] = (await owner['/v1']('GET', `/sessions/${ids.sessions}/${part}`)).text
  }
  return shown
}

test('every section with an id is covered by the isolation test', () => {
  const sections = new Set(withId.map(({ path }) => sectionOf(path)))
  expect([...sections].filter((section) => !(section in ids))).toEqual([])
})

/** What the owner saw last: nobody but the stranger has done anything since. */
let seen: Record<string, string> | null = null

describe.each(withId)('$method $path', ({ method, path }) => {
  const surface: Surface = path.startsWith('/v1') ? '/v1' : '/console'
  const tryWith = async (id: string) => {
    const target = path.slice(surface.length).replace(/:id\??/, id)
    const body = method === 'POST' || method === 'PUT' ? BODY : undefined
    const answer = await stranger[surface](method, target, body)
    const text = answer.text.replaceAll(decodeURIComponent(id), 'ID')
    return { status: answer.status, text }
  }

  test("another tenant's id behaves as one that does not exist", async () => {
    const before = seen ?? (await everything())
    const foreign = await tryWith(ids[sectionOf(path)] ?? '')
    expect(foreign).toEqual(await tryWith(UNKNOWN))
    expect(foreign.text).not.toContain(MARK)
    if (sectionOf(path) !== 'sessions') expect(foreign.status).toBe(404)
    seen = await everything()
    expect(seen).toEqual(before)
  })
})

describe.each(withoutId.filter(({ method }) => method === 'GET'))('$method $path', ({ path }) => {
  const surface: Surface = path.startsWith('/v1') ? '/v1' : '/console'
  test('a list shows nothing of another tenant', async () => {
    const { text, status } = await stranger[surface]('GET', at(path.slice(surface.length)))
    expect(status).toBe(200)
    for (const secret of [MARK, ...Object.values(ids)]) expect(text).not.toContain(secret)
  })
})

test("a search finds no other tenant's documents", async () => {
  const find = async (call: Call) =>
    (await call<{ results: unknown[] }>('POST', '/kb/search', { q: MARK })).json().results.length
  expect(await find(owner['/v1'])).toBe(1)
  expect(await find(stranger['/v1'])).toBe(0)
  expect(await find(stranger['/console'])).toBe(0)
})

test('a tenant named in a body, query or header is ignored', async () => {
  const { tenantId } = await app.key(OWNER)
  const before = await everything()
  const named = { ...BODY, tenant_id: tenantId, tenantId, user_id: tenantId }
  for (const surface of SURFACES) {
    const call = stranger[surface]
    const query = `?tenant_id=${tenantId}&tenantId=${tenantId}`
    const headers = { 'x-tenant-id': tenantId, 'x-forwarded-user': tenantId }
    expect((await call('POST', `/apps${query}`, named, headers)).status).toBe(201)
    expect((await call('GET', `/apps${query}`, undefined, headers)).text).not.toContain(MARK)
  }
  expect(await everything()).toEqual(before)
})
