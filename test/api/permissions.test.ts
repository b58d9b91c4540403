import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hasJsonErrors } from '../../src/http/error-forms.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { errorProblem, isRpcError } from '../support/error-answer.ts'
import { allRoutes } from '../support/routes.ts'

/** The kinds of credentials, and those that are none. */
const CREDENTIALS = [
  ...['none', 'general', 'app', 'device', 'revoked', 'session', 'editor', 'viewer', 'operator'],
] as const
type Credential = (typeof CREDENTIALS)[number]

/**
 * Which credentials get through to the work, and what the others meet. Machine keys do not work on
 * the console and the cookie not on `/v1`.
 */
const GROUPS = {
  manage: { let: ['general'], refused: ['app', 'device'] },
  run: { let: ['general', 'app', 'device'], refused: [] },
  kbEdit: { let: ['general', 'app'], refused: ['device'] },
  heartbeat: { let: ['device'], refused: ['general', 'app'] },
  person: { let: ['session', 'editor', 'viewer', 'operator'], refused: [] },
  operator: { let: ['operator'], refused: ['session', 'editor', 'viewer'] },
  public: { let: CREDENTIALS, refused: [] },
} as const satisfies Record<string, { let: readonly Credential[]; refused: readonly Credential[] }>
type Group = keyof typeof GROUPS

/** What a person must be in the tenant; `session` is an owner's. */
type Role = 'owner' | 'editor' | 'viewer'

/**
 * Group of a route, what answers a caller that is let through with an empty object, and the least
 * role where it is not the usual one: viewers may read, editors may change.
 */
type Row = readonly [Group, number, (Role | undefined)?]

/** The shared routes, as `/v1` has them; on `/console` they are for a person. */
const SHARED: Readonly<Record<string, Row>> = {
  'GET /sessions': ['manage', 200],
  'GET /sessions/:id/history': ['run', 200],
  'GET /sessions//history': ['run', 200],
  'GET /sessions/:id/transcript': ['kbEdit', 200],
  'GET /sessions//transcript': ['kbEdit', 200],
  'POST /sessions/:id/branch': ['kbEdit', 400, 'viewer'],
  'PUT /sessions/:id/turns/:seq/feedback': ['kbEdit', 400, 'viewer'],
  'GET /feedback': ['manage', 200, 'editor'],
  'DELETE /sessions/:id?': ['manage', 200, 'viewer'],
  'GET /kb/docs': ['kbEdit', 200],
  'POST /kb/docs': ['kbEdit', 400],
  'GET /kb/docs/:id': ['kbEdit', 404],
  'GET /kb/docs/:id/chunks': ['kbEdit', 404],
  'GET /kb/docs/:id/citations': ['manage', 404],
  'DELETE /kb/docs/:id': ['kbEdit', 404],
  'DELETE /kb/docs/': ['kbEdit', 400],
  'DELETE /kb/docs': ['kbEdit', 400],
  'POST /kb/search': ['run', 400, 'viewer'],
  'POST /kb/files': ['kbEdit', 400],
  'POST /kb/urls': ['kbEdit', 400],
  'POST /files': ['kbEdit', 400, 'viewer'],
  'GET /files': ['kbEdit', 200],
  'GET /files/:id': ['kbEdit', 404],
  'DELETE /files/:id': ['kbEdit', 404, 'viewer'],
  'GET /files/:id/text': ['kbEdit', 404],
  'POST /files/:id/refresh': ['kbEdit', 404, 'viewer'],
  'POST /files/:id/keep': ['kbEdit', 404],
  'GET /runs': ['kbEdit', 200],
  'POST /runs': ['kbEdit', 400],
  'GET /runs/:id': ['kbEdit', 404],
  'POST /runs/:id/cancel': ['kbEdit', 404],
  'GET /schedules': ['kbEdit', 200],
  'POST /schedules': ['kbEdit', 400],
  'POST /schedules/preview': ['kbEdit', 400, 'viewer'],
  'GET /schedules/:id': ['kbEdit', 404],
  'PUT /schedules/:id': ['kbEdit', 400],
  'DELETE /schedules/:id': ['kbEdit', 404, 'viewer'],
  'POST /schedules/:id/run': ['kbEdit', 404],
  'GET /memories/subjects': ['manage', 200, 'owner'],
  'POST /memories': ['kbEdit', 400, 'viewer'],
  'PUT /memories/:id': ['kbEdit', 400, 'viewer'],
  'DELETE /memories/:id': ['kbEdit', 404, 'viewer'],
  'DELETE /memories': ['kbEdit', 400, 'viewer'],
  'GET /webhooks': ['manage', 200],
  'POST /webhooks': ['manage', 400],
  'PUT /webhooks/:id': ['manage', 400],
  'DELETE /webhooks/:id': ['manage', 404],
  'POST /webhooks/:id/rotate': ['manage', 404],
  'POST /webhooks/:id/test': ['manage', 404],
  'GET /webhooks/:id/deliveries': ['manage', 404],
  'GET /triggers': ['manage', 200],
  'POST /triggers': ['manage', 400],
  'PUT /triggers/:id': ['manage', 400],
  'DELETE /triggers/:id': ['manage', 404],
  'GET /prompts': ['manage', 200],
  'POST /prompts': ['manage', 400],
  'GET /prompts/:id': ['manage', 404],
  'PUT /prompts/:id': ['manage', 400],
  'DELETE /prompts/:id': ['manage', 404],
  'GET /sessions/:id/export': ['kbEdit', 404],
  'PUT /kb/docs/:id': ['kbEdit', 404],
  'GET /kb/collections': ['kbEdit', 200],
  'POST /kb/collections': ['manage', 400],
  'PUT /kb/collections/:id': ['manage', 400],
  'DELETE /kb/collections/:id': ['manage', 404],
  'GET /kb/limits': ['kbEdit', 200],
  'GET /kb/embedding': ['kbEdit', 200],
  'GET /kb/sources': ['kbEdit', 200],
  'GET /kb/sources/:id': ['kbEdit', 404],
  'PUT /kb/sources/:id': ['kbEdit', 404],
  'DELETE /kb/sources/:id': ['kbEdit', 404],
  'POST /kb/sources/:id/refresh': ['kbEdit', 404],
  'POST /tts': ['run', 400, 'viewer'],
  'POST /tts/stream': ['run', 400, 'viewer'],
  'POST /asr': ['run', 502, 'viewer'],
  'POST /voice': ['run', 400, 'viewer'],
  'GET /apps': ['manage', 200],
  'POST /apps': ['manage', 400],
  'GET /apps/:id': ['manage', 404],
  'PUT /apps/:id': ['manage', 400],
  'DELETE /apps/:id': ['manage', 404],
  'GET /apps/:id/versions': ['manage', 404],
  'GET /apps/:id/versions/:version': ['manage', 404],
  'POST /apps/:id/keys': ['manage', 404],
  'GET /apps/:id/shares': ['manage', 404],
  'POST /apps/:id/shares': ['manage', 400],
  'PUT /apps/:id/shares/:share': ['manage', 404],
  'POST /apps/:id/shares/:share/rotate': ['manage', 404],
  'DELETE /apps/:id/shares/:share': ['manage', 404],
  'GET /provider': ['manage', 200],
  'PUT /provider': ['manage', 400],
  'DELETE /provider': ['manage', 200],
  'POST /provider/test': ['manage', 400],
  'GET /mcp-servers': ['manage', 200],
  'POST /mcp-servers': ['manage', 400],
  'GET /mcp-servers/:id': ['manage', 404],
  'PUT /mcp-servers/:id': ['manage', 400],
  'DELETE /mcp-servers/:id': ['manage', 404],
  'POST /mcp-servers/:id/refresh': ['manage', 404],
  'PUT /mcp-servers/:id/tools': ['manage', 400],
  'GET /devices': ['manage', 200],
  'POST /devices': ['manage', 400],
  'GET /devices/:id': ['manage', 404],
  'PUT /devices/:id': ['manage', 400],
  'DELETE /devices/:id': ['manage', 404],
  'POST /devices/:id/recode': ['manage', 404],
  'POST /devices/:id/say': ['manage', 400],
  'POST /devices/pair': ['manage', 400],
  'POST /devices/pair/board': ['manage', 400],
  'GET /logs': ['manage', 200],
  'GET /export': ['manage', 200, 'editor'],
  'POST /import': ['manage', 400],
}

const ROWS: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(
    Object.entries(SHARED).flatMap(([name, [group, status, least]]): [string, Row][] => [
      [name.replace(' ', ' /v1'), [group, status]],
      [name.replace(' ', ' /console'), ['person', status, least]],
    ]),
  ),
  'POST /v1/agent': ['run', 400],
  'GET /v1/memories': ['kbEdit', 400],
  'GET /console/memories': ['person', 200],
  'POST /console/memories/suggest': ['person', 400, 'viewer'],
  'GET /v1/models': ['run', 200],
  'GET /v1/models/:id': ['run', 404],
  'POST /v1/chat/completions': ['run', 400],
  'POST /v1/responses': ['run', 400],
  'POST /v1/messages': ['run', 400],
  'POST /v1/messages/count_tokens': ['run', 400],
  'POST /v1/mcp': ['run', 400],
  'POST /v1/embeddings': ['kbEdit', 400],
  'POST /v1/audio/speech': ['run', 400],
  'POST /v1/audio/transcriptions': ['run', 400],
  'POST /v1/devices/activate': ['public', 400],
  'POST /v1/devices/heartbeat': ['heartbeat', 200],
  'POST /console/agent': ['person', 400, 'viewer'],
  'GET /console/mcp-servers/:id/definition': ['person', 404],
  'POST /console/mcp-servers/:id/call': ['person', 400],
  'POST /console/mcp-servers/:id/sign-in': ['person', 404],
  'DELETE /console/mcp-servers/:id/sign-in': ['person', 404],
  'POST /console/agent/check': ['person', 200, 'viewer'],
  'GET /console/models': ['person', 200],
  'GET /console/conversations': ['person', 200],
  'PUT /console/conversations/:id': ['person', 404, 'viewer'],
  'GET /console/conversations/:id': ['person', 404],
  'GET /console/files/:id/image': ['person', 404],
  'GET /console/conversations/:id/versions': ['person', 404],
  'GET /console/agent/turns/:id/events': ['person', 404],
  'POST /console/agent/turns/:id/stop': ['person', 404, 'viewer'],
  'POST /v1/agent/asks/:id': ['kbEdit', 400],
  'POST /console/agent/asks/:id': ['person', 400, 'viewer'],
  'DELETE /console/agent/turns/:id': ['person', 404, 'viewer'],
  'GET /console/library': ['person', 200],
  'GET /console/library/chosen': ['person', 200],
  'GET /console/keys': ['person', 200],
  'POST /console/keys': ['person', 201, 'owner'],
  'PUT /console/keys/:id': ['person', 404],
  'DELETE /console/keys/:id': ['person', 404],
  'GET /console/keys/:id/made': ['person', 404],
  'GET /console/personas': ['person', 200],
  'POST /console/personas': ['person', 400],
  'PUT /console/personas/:id': ['person', 400],
  'DELETE /console/personas/:id': ['person', 404],
  'POST /console/personas/:id/default': ['person', 404],
  'DELETE /console/personas/:id/default': ['person', 404],
  'GET /console/notices': ['person', 200],
  'POST /console/notices/:id/read': ['person', 404, 'viewer'],
  'GET /console/settings': ['person', 200],
  'PUT /console/settings': ['person', 200],
  'GET /console/boards': ['person', 200],
  'GET /console/usage': ['person', 200],
  'GET /console/members': ['person', 200, 'owner'],
  'POST /console/members': ['person', 400, 'owner'],
  'PUT /console/members/:id': ['person', 404, 'owner'],
  'DELETE /console/members/:id': ['person', 404, 'owner'],
  'GET /console/audit': ['person', 200, 'owner'],
  'GET /console/system': ['operator', 200],
  'PUT /console/system': ['operator', 200],
  'POST /console/system/test': ['operator', 400],
  'GET /console/system/local-models': ['operator', 200],
  'GET /console/system/model-pack': ['operator', 200],
  'POST /console/system/models': ['operator', 400],
  'GET /console/system/overview': ['operator', 200],
  'GET /console/system/backups': ['operator', 200],
  'POST /console/system/backups': ['operator', 400],
  'GET /console/system/backups/download': ['operator', 400],
  'GET /console/system/people': ['operator', 200],
  'GET /console/system/tenants': ['operator', 200],
  'PUT /console/system/tenants/:id': ['operator', 404],
  'POST /console/system/people': ['operator', 400],
  'POST /console/system/people/:id/sign-out': ['operator', 404],
  'POST /console/system/people/:id/link': ['operator', 404],
  'PUT /console/system/people/:id': ['operator', 404],
  'DELETE /console/system/people/:id': ['operator', 404],
  'GET /auth/me': ['person', 200],
  'POST /auth/tenant': ['person', 400, 'viewer'],
  'GET /auth/invitations': ['person', 200],
  'POST /auth/invitations/:id/accept': ['person', 404, 'viewer'],
  'POST /auth/invitations/:id/decline': ['person', 404, 'viewer'],
  // An address has no passkeys.
  'GET /auth/passkeys': ['person', 200],
  'POST /auth/passkeys/options': ['person', 404, 'viewer'],
  'POST /auth/passkeys': ['person', 404, 'viewer'],
  'PUT /auth/passkeys/:id': ['person', 400, 'viewer'],
  'DELETE /auth/passkeys/:id': ['person', 404, 'viewer'],
  'POST /auth/passkey/options': ['public', 404],
  'POST /auth/passkey/verify': ['public', 404],
  'GET /auth/link/:token': ['public', 302],
  'GET /auth/mcp/callback': ['public', 302],
  'GET /auth/methods': ['public', 200],
  'POST /auth/email/start': ['public', 400],
  'POST /auth/email/verify': ['public', 400],
  'POST /auth/logout': ['public', 200],
  'GET /auth/oauth/:provider': ['public', 404],
  'GET /auth/oauth/:provider/callback': ['public', 302],
  'GET /auth/native/authorize': ['public', 400],
  'POST /auth/native/authorize': ['public', 400],
  'POST /auth/native/exchange': ['public', 400],
}

/** Pages for everybody, which no credential changes. */
const isSitePage = (path: string) => !/^\/(v1|console|auth)\//.test(path)

let app: TestApp
let calls: Record<Credential, Call>

beforeAll(async () => {
  app = await startApp({ env: { MB_TTS_KIND: 'none', MB_ASR_KIND: 'none' } })
  const email = 'a@example.com'
  const revoked = await app.key(email)
  const person = await app.person(email)
  const console = caller(`${app.url}/console`, person.headers)
  expect((await console('DELETE', `/keys/${revoked.id}`)).status).toBe(200)
  calls = {
    none: caller(app.url, {}),
    general: caller(app.url, (await app.key(email)).headers),
    app: caller(app.url, (await app.key(email, { appId: 'app' })).headers),
    device: caller(app.url, await deviceKey(console)),
    session: caller(app.url, person.headers),
    editor: caller(app.url, await memberOf(email, 'editor')),
    viewer: caller(app.url, await memberOf(email, 'viewer')),
    operator: caller(app.url, (await app.operator()).headers),
    revoked: caller(app.url, revoked.headers),
  }
})
/** The session of a person who is in the tenant of `owner`. */
async function memberOf(owner: string, role: Role) {
  const { headers } = await app.person(`${role}@example.com`)
  const { headers: inviter, tenantId } = await app.person(owner)
  const body = { email: `${role}@example.com`, role }
  expect((await caller(app.url, inviter)('POST', '/console/members', body)).status).toBe(201)
  const at = { tenant_id: tenantId }
  expect((await caller(app.url, headers)('POST', '/auth/tenant', at)).status).toBe(200)
  return headers
}

/** The credential of a device that was registered and activated. */
async function deviceKey(console: Call) {
  const made = await console<{ activation_code: string }>('POST', '/devices', { name: 'd' })
  const { activation_code: code } = made.json()
  const body = { code }
  const answer = await caller(app.url, {})<{ key: string }>('POST', '/v1/devices/activate', body)
  // There are more routes than a device may call in a minute.
  const { keys } = (await console<{ keys: { id: string }[] }>('GET', '/keys')).json()
  await console('PUT', `/keys/${keys[0]?.id}`, { rate_limit: 0 })
  return { authorization: `Bearer ${answer.json().key}` }
}
afterAll(() => app[Symbol.asyncDispose]())

const routes = allRoutes().filter(({ path }) => !isSitePage(path))
const known = new Set(routes.map(({ method, path }) => `${method} ${path}`))

test('every route has a row in the table of permissions', () => {
  expect([...known].filter((name) => !(name in ROWS))).toEqual([])
})

test('every row in the table of permissions has a route', () => {
  expect(Object.keys(ROWS).filter((name) => !known.has(name))).toEqual([])
})

const usualRole = (name: string): Role => (name.startsWith('GET ') ? 'viewer' : 'editor')
const ROLES: readonly Role[] = ['viewer', 'editor', 'owner']

/** The status that a credential meets, whatever the body: rights come before it. */
function refusal(name: string, [group, , least]: Row, credential: Credential): number | null {
  if (group === 'person' && (credential === 'editor' || credential === 'viewer')) {
    const reaches = ROLES.indexOf(credential) >= ROLES.indexOf(least ?? usualRole(name))
    return reaches ? null : 403
  }
  const { let: allowed, refused } = GROUPS[group] as {
    let: readonly Credential[]
    refused: readonly Credential[]
  }
  if (allowed.includes(credential)) return null
  const isKnown = name.includes(' /v1/') || group === 'operator'
  return refused.includes(credential) && isKnown ? 403 : 401
}

describe.each(Object.entries(ROWS).filter(([name]) => known.has(name)))('%s', (name, row) => {
  const [, status] = row
  const [method = '', pattern = ''] = name.split(' ')
  const path = pattern.replace(/:\w+\??/g, 'none')
  const hasBody = method === 'POST' || method === 'PUT'

  test.each(CREDENTIALS)('the credential %s gets the status of its row', async (credential) => {
    const refused = refusal(name, row, credential)
    const body = hasBody ? (refused === null ? {} : '{not json') : undefined
    const answer = await calls[credential](method, path, body)
    expect(answer.status).toBe(refused ?? status)
    if (answer.status < 400) return
    if (refused === null && isRpcError(answer)) return
    expect(errorProblem(answer)).toBeNull()
    const type = hasJsonErrors(pattern) ? 'application/json' : 'text/plain; charset=utf-8'
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.text).toMatch(/\p{Script=Han}/u)
    if (refused === 403 && name.includes(' /v1/')) {
      const kind = { general: '通用', app: '应用级', device: '设备' }[credential as 'app']
      expect(answer.text).toContain(kind as string)
    }
  })
})

test('a revoked, unknown, malformed and missing key get the same answer', async () => {
  const texts = await Promise.all(
    [
      {},
      { authorization: 'Bearer' },
      { authorization: `Bearer sk-mb-${'0'.repeat(64)}` },
      { authorization: 'Basic YTpi' },
      { authorization: `Bearer ${'x'.repeat(5000)}` },
    ].map(async (headers) => (await caller(app.url, headers)('GET', '/v1/apps')).text),
  )
  texts.push((await calls.revoked('GET', '/v1/apps')).text)
  expect(new Set(texts).size).toBe(1)
})

test('a key does not open the console side, nor a session the machine side', async () => {
  const { headers: key } = await app.key('a@example.com', { appId: 'app' })
  const { headers: cookie } = await app.person('a@example.com')
  const both = caller(app.url, { ...key, ...cookie })
  expect((await both('GET', '/v1/apps')).status).toBe(403)
  expect((await both('GET', '/console/apps')).status).toBe(200)
})
