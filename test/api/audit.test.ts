import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ACTIONS } from '../../src/features/audit/actions.ts'
import { KINDS } from '../../web/features/audit/kinds.ts'
import { en } from '../../web/i18n/en.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { consentedCode } from '../support/consent.ts'
import { allRoutes } from '../support/routes.ts'
import { startTeam } from '../support/team.ts'

interface Entry {
  readonly id: string
  readonly ts: string
  readonly person: string | null
  readonly key_id: string | null
  readonly action: string
  readonly target: string | null
  readonly target_name: string | null
  readonly address: string
}
type Page = { entries: Entry[]; next_before: string | null }

const clock = fakeClock()
let app: TestApp

beforeAll(async () => {
  app = await startApp({ clock })
})
afterAll(() => app[Symbol.asyncDispose]())

const read = async (call: Call, query = '') =>
  (await call<Page>('GET', `/console/audit${query}`)).json()

/** Routes that change nothing that the audit is about, though their method says so. */
const NOT_AUDITED = [
  ...['POST /agent', 'POST /agent/check', 'POST /voice', 'POST /tts', 'POST /tts/stream'],
  ...['POST /asr', 'POST /kb/search', 'POST /provider/test', 'DELETE /sessions/:id?'],
  ...['DELETE /kb/docs', 'DELETE /kb/docs/', 'POST /kb/sources/:id/refresh'],
  ...[
    'POST /mcp-servers/:id/refresh',
    'POST /devices/pair/board',
    'PUT /conversations/:id',
    'POST /sessions/:id/branch',
    'PUT /sessions/:id/turns/:seq/feedback',
    'POST /agent/turns/:id/stop',
    'DELETE /agent/turns/:id',
    'POST /files',
    'POST /files/:id/refresh',
    'POST /runs',
    'POST /runs/:id/cancel',
    'POST /schedules/preview',
    'POST /schedules/:id/run',
    'POST /notices/:id/read',
    'POST /webhooks/:id/test',
    'DELETE /files/:id',
    'POST /memories',
    'PUT /memories/:id',
    'POST /memories/suggest',
    'POST /system/test',
    'POST /system/models',
  ],
]

describe('the table of audited routes', () => {
  const changing = allRoutes()
    .filter(({ method, path }) => method !== 'GET' && path.startsWith('/console/'))
    .map(({ method, path }) => `${method} ${path.slice('/console'.length)}`)

  test('every changing route of the console is audited, or known not to be', () => {
    const open = changing.filter((name) => !(name in ACTIONS) && !NOT_AUDITED.includes(name))
    expect(open).toEqual([])
  })

  test('every action has words in the console', () => {
    const unnamed = Object.values(ACTIONS).filter((action) => !(`audit.action.${action}` in en))
    expect(unnamed).toEqual([])
    const kinds = Object.values(ACTIONS).map((action) => action.split('.')[0] ?? '')
    expect([...new Set(kinds)].sort()).toEqual([...KINDS])
  })

  test('every audited route belongs to the console, or is audited by itself', () => {
    const others = Object.keys(ACTIONS).filter((name) => !changing.includes(name))
    expect(others).toEqual([
      'POST /native/exchange',
      'POST /passkeys',
      'PUT /passkeys/:id',
      'DELETE /passkeys/:id',
      'POST /passkey/verify',
      'POST /invitations/:id/accept',
      'POST /invitations/:id/decline',
      'POST /devices/activate',
      'GET /mcp/callback',
      'GET /system/backups/download',
    ])
  })
})

test('a change is audited with person, action and address, without values', async () => {
  const { call, email } = await startTeam(app)
  const secret = { name: 'Front desk', system_prompt: 'SECRET-PROMPT' }
  const made = (await call<{ id: string }>('POST', '/console/apps', secret)).json()
  const key = (
    await call<{ id: string; key: string }>('POST', `/console/apps/${made.id}/keys`, {})
  ).json()
  await call('PUT', '/console/settings', { model: 'SECRET-MODEL' })
  await call('DELETE', `/console/keys/${key.id}`)
  const { entries, next_before } = await read(call)
  expect(next_before).toBeNull()
  expect(entries.map(({ action, target }) => [action, target])).toEqual([
    ['key.revoke', key.id],
    ['settings.update', null],
    ['key.create', key.id],
    ['app.create', made.id],
  ])
  for (const entry of entries) {
    expect(entry).toEqual({
      id: expect.any(String),
      ts: new Date(clock.now()).toISOString(),
      ...{ person: email, key_id: null, action: expect.any(String), address: '127.0.0.1' },
      ...{ target: entry.target, target_name: entry.target_name },
    })
  }
  expect(entries.map(({ target_name }) => target_name)).toEqual([null, null, null, 'Front desk'])
  const { text } = await call('GET', '/console/audit')
  expect(text).not.toContain('SECRET')
  expect(text).not.toContain(key.key)
})

test('a change by a key leaves the id of the key', async () => {
  const { call, email } = await startTeam(app)
  const key = await app.key(email)
  const machine = caller(`${app.url}/v1`, key.headers)
  const { id } = (await machine<{ id: string }>('POST', '/devices', { name: 'd' })).json()
  expect((await read(call)).entries[0]).toMatchObject({
    ...{ person: null, key_id: key.id, action: 'device.create', target: id },
  })
})

test('a key that was made for a code leaves a line: of a person, or of the device', async () => {
  const { call, email, headers: person } = await startTeam(app)
  const verifier = 'v'.repeat(43)
  const challenge = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(verifier)))
  const query = new URLSearchParams({
    code_challenge: challenge.toString('base64url'),
    ...{ code_challenge_method: 'S256', app_scheme: 'moonbase' },
  })
  const code = await consentedCode(app.url, `/auth/native/authorize?${query}`, person)
  const open = caller(app.url, {})
  const body = { code, code_verifier: verifier }
  expect((await open('POST', '/auth/native/exchange', body)).status).toBe(200)
  const device = { name: 'd' }
  const made = (
    await call<{ id: string; activation_code: string }>('POST', '/console/devices', device)
  ).json()
  const activated = await open('POST', '/v1/devices/activate', { code: made.activation_code })
  expect(activated.status).toBe(200)
  expect((await open('POST', '/v1/devices/activate', { code: made.activation_code })).status).toBe(
    410,
  )
  type Keys = { keys: { id: string; device_id: string | null }[] }
  const { keys } = (await call<Keys>('GET', '/console/keys')).json()
  const ofDevice = keys.find(({ device_id }) => device_id === made.id)?.id
  const ofPerson = keys.find(({ device_id }) => device_id === null)?.id
  expect((await read(call)).entries).toMatchObject([
    { action: 'device.activate', target: made.id, person: null, key_id: ofDevice },
    { action: 'device.create', target: made.id },
    { action: 'key.create', target: ofPerson, person: email, key_id: null },
  ])
})

test('what has a name is named as it was then, also what is gone', async () => {
  const { call } = await startTeam(app)
  const make = async (path: string, body: object) =>
    (await call<{ id: string }>('POST', `/console${path}`, body)).json().id
  const id = await make('/apps', { name: 'Front desk' })
  const share = await make(`/apps/${id}/shares`, { name: 'Our site' })
  await call('PUT', `/console/apps/${id}`, { name: 'Reception' })
  await call('DELETE', `/console/apps/${id}/shares/${share}`)
  await call('DELETE', `/console/apps/${id}`)
  const persona = await make('/personas', { name: 'Kind', prompt: 'p' })
  await call('DELETE', `/console/personas/${persona}`)
  const doc = await make('/kb/docs', { title: 'Warranty', text: 'Two years.' })
  await call('DELETE', `/console/kb/docs/${doc}`)
  const { entries } = await read(call)
  expect(entries.map((one) => [one.action, one.target, one.target_name]).reverse()).toEqual([
    ['app.create', id, 'Front desk'],
    ['share.create', share, 'Our site'],
    ['app.update', id, 'Reception'],
    ['share.delete', share, 'Our site'],
    ['app.delete', id, 'Reception'],
    ['persona.create', persona, 'Kind'],
    ['persona.delete', persona, 'Kind'],
    ['document.create', doc, 'Warranty'],
    ['document.delete', doc, 'Warranty'],
  ])
})

test('a change of the server names the settings, without their values', async () => {
  await using server = await startApp()
  const call = caller(server.url, (await server.operator()).headers)
  const unknown = { 'ignored secret': 1 }
  const changes = { MB_SEARCH_URL: 'http://127.0.0.1:1/secret', MB_SIGNUP: 'closed', ...unknown }
  expect((await call('PUT', '/console/system', changes)).status).toBe(200)
  const { entries } = await read(call)
  expect(entries[0]).toMatchObject({
    ...{ action: 'system.update', target: 'MB_SEARCH_URL, MB_SIGNUP', target_name: null },
  })
  expect(JSON.stringify(entries)).not.toContain('127.0.0.1:1')
  await call('PUT', '/console/system?untested=1', { MB_SIGNUP: null })
  expect((await read(call)).entries[0]).toMatchObject({ target: 'MB_SIGNUP, untested' })
})

test('refusals, reads and turns are not audited', async () => {
  const { call } = await startTeam(app)
  await call('POST', '/console/apps', { name: '' })
  await call('DELETE', '/console/apps/unknown')
  await call('GET', '/console/apps')
  await call('POST', '/console/agent', { text: '1+1' })
  expect((await read(call)).entries).toEqual([])
})

test('the audit is for owners', async () => {
  const owner = await startTeam(app)
  const editor = await owner.join('editor')
  await editor.call('POST', '/console/personas', { name: 'p', prompt: 'p' })
  expect((await editor.call('GET', '/console/audit')).status).toBe(403)
  const { entries } = await read(owner.call)
  expect(entries.map(({ action, person }) => [action, person])).toEqual([
    ['persona.create', editor.email],
    ['member.accept', editor.email],
    ['member.create', owner.email],
  ])
})

test('pages follow each other by entry or by time', async () => {
  const { call } = await startTeam(app)
  for (let i = 0; i < 5; i += 1) {
    clock.advance(1_000)
    await call('PUT', '/console/settings', {})
  }
  const all = (await read(call)).entries
  const first = await read(call, '?limit=2')
  const second = await read(call, `?limit=2&before=${first.next_before}`)
  const third = await read(call, `?limit=2&before=${second.next_before}`)
  expect([...first.entries, ...second.entries, ...third.entries]).toEqual(all)
  expect(third.next_before).toBeNull()
  const byTime = await read(call, `?before=${all[1]?.ts}`)
  expect(byTime.entries).toEqual(all.slice(2))
  expect((await call('GET', '/console/audit?before=yesterday')).status).toBe(400)
})

test('lines are kept for 90 days', async () => {
  const { call, email } = await startTeam(app)
  const signedIn = async () => caller(app.url, (await app.person(email)).headers)
  await call('PUT', '/console/settings', {})
  clock.advance(90 * 86_400_000 - 3_600_000)
  await app.prune()
  expect((await read(await signedIn())).entries).toHaveLength(1)
  clock.advance(2 * 3_600_000)
  await app.prune()
  expect((await read(await signedIn())).entries).toHaveLength(0)
})
