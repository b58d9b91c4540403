import { expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { codesFor, signIn } from '../support/login.ts'
import { run } from '../support/run.ts'
import { postSse } from '../support/sse.ts'
import { startTeam } from '../support/team.ts'
import { startUpstream } from '../support/upstream.ts'

test('the first person who signs in is operator, and nobody after', async () => {
  await using app = await startApp()
  // A person whom a command made has not signed in.
  await app.key('made@example.com')
  const first = await signIn(app, 'first@example.com')
  const second = await signIn(app, 'made@example.com')
  expect(first.me).toMatchObject({ operator: true })
  expect(second.me).toMatchObject({ operator: false })
  const seen = await fetch(`${app.url}/auth/me`, { headers: first.headers })
  expect(await seen.json()).toEqual(first.me)
})

interface Person {
  readonly id: string
  readonly email: string
  readonly operator: boolean
  readonly named: boolean
  readonly disabled: boolean
  readonly tenants: readonly { id: string; name: string; role: string }[]
  readonly last_sign_in_at: string | null
}
const peopleOf = async (call: Call) =>
  Object.fromEntries(
    (await call<{ people: Person[] }>('GET', '/system/people'))
      .json()
      .people.map((one) => [one.email, one]),
  ) as Record<string, Person>

test('a disabled person is out at once, even amid an answer, and keys stay', async () => {
  const upstream = await startUpstream()
  await using app = await startApp({ upstream: upstream.baseUrl })
  const boss = caller(`${app.url}/console`, (await signIn(app, 'boss@example.com')).headers)
  const { headers } = await signIn(app, 'ada@example.com')
  const ada = caller(`${app.url}/console`, headers)
  const key = (await ada<{ key: string }>('POST', '/keys')).json().key
  const { id } = (await peopleOf(boss))['ada@example.com'] as Person
  const change = (disabled: boolean) => boss('PUT', `/system/people/${id}`, { disabled })

  upstream.fault('hang', { after: 1 })
  const stream = await postSse(`${app.url}/console/agent`, { headers, body: { text: 'hi' } })
  await upstream.nextRequest('/chat/completions')
  expect((await change(true)).json()).toMatchObject({ id, disabled: true })
  expect((await stream.all()).at(-1)).toMatchObject({ event: 'error' })
  expect((await ada('GET', '/apps')).status).toBe(401)
  expect((await fetch(`${app.url}/auth/me`, { headers })).status).toBe(401)
  const bearer = { authorization: `Bearer ${key}` }
  expect((await fetch(`${app.url}/v1/apps`, { headers: bearer })).status).toBe(200)
  await fetch(`${app.url}/auth/email/start`, {
    method: 'POST',
    body: '{"email":"ada@example.com"}',
  })
  await app.jobs.idle()
  expect(codesFor('ada@example.com', app.log())).toHaveLength(1)

  expect((await change(false)).json()).toMatchObject({ disabled: false })
  // A session from before stays ended: it may be in the wrong hands.
  expect((await ada('GET', '/apps')).status).toBe(401)
  const again = await signIn(app, 'ada@example.com')
  expect((await caller(`${app.url}/console`, again.headers)('GET', '/apps')).status).toBe(200)
  await upstream.stop()
})

test('the tenant of a deleted person who was alone in it goes with them', async () => {
  await using app = await startApp()
  const boss = caller(`${app.url}/console`, (await signIn(app, 'boss@example.com')).headers)
  const gone = await signIn(app, 'gone@example.com')
  const theirs = caller(`${app.url}/console`, gone.headers)
  await theirs('POST', '/apps', { name: '客服' })
  await theirs('POST', '/kb/docs', { title: '保修', text: '两年。' })
  await theirs('POST', '/members', { email: 'invited@example.com', role: 'owner' })
  const key = (await theirs<{ key: string }>('POST', '/keys')).json().key
  const person = (await peopleOf(boss))['gone@example.com'] as Person
  expect(person).toMatchObject({
    ...{ operator: false, disabled: false, last_sign_in_at: expect.any(String) },
    tenants: [{ id: gone.me.tenant_id, name: 'gone', role: 'owner' }],
  })
  const removed = await boss('DELETE', `/system/people/${person.id}`)
  expect(removed.json()).toEqual({ id: person.id, deleted: true })
  expect((await theirs('GET', '/apps')).status).toBe(401)
  const bearer = { authorization: `Bearer ${key}` }
  expect((await fetch(`${app.url}/v1/apps`, { headers: bearer })).status).toBe(401)
  expect(await peopleOf(boss)).not.toHaveProperty('gone@example.com')
  const invited = await signIn(app, 'invited@example.com')
  const call = caller(app.url, invited.headers)
  expect((await call('GET', '/auth/invitations')).json()).toEqual({ invitations: [] })
  await app.jobs.idle()
  const left = async (table: string) =>
    app.db.all({ sql: `SELECT * FROM ${table} WHERE tenant_id = ?`, args: [gone.me.tenant_id] })
  for (const table of ['app', 'kb_doc', 'api_key', 'member', 'audit']) {
    expect([table, await left(table)]).toEqual([table, []])
  }
  const again = await signIn(app, 'gone@example.com')
  expect(again.me.tenant_id).not.toBe(gone.me.tenant_id)
})

test('the row of a tenant that is gone goes a day later', async () => {
  const clock = fakeClock()
  await using app = await startApp({ clock })
  const call = async () =>
    caller(`${app.url}/console`, (await app.person('boss@example.com')).headers)
  await signIn(app, 'boss@example.com')
  const gone = await signIn(app, 'gone@example.com')
  const row = () =>
    app.db.get({ sql: 'SELECT 1 FROM tenant WHERE id = ?', args: [gone.me.tenant_id] })
  await (await call())('DELETE', `/system/people/${gone.me.user_id}`)
  await app.jobs.idle()
  expect(await row()).not.toBeNull()
  clock.advance(86_400_000)
  await app.prune()
  expect(await row()).toBeNull()
})

test('the only owner of a tenant with other members cannot be deleted', async () => {
  await using app = await startApp()
  const boss = caller(`${app.url}/console`, (await signIn(app, 'boss@example.com')).headers)
  const owner = await startTeam(app)
  const member = await owner.join('viewer')
  const people = await peopleOf(boss)
  const at = ({ email }: { email: string }) => `/system/people/${people[email]?.id}`
  const refused = await boss('DELETE', at(owner))
  expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'sole_owner'])
  expect((await owner.call('GET', '/console/apps')).status).toBe(200)
  expect((await boss('DELETE', at(member))).status).toBe(200)
  expect((await boss('DELETE', at(owner))).status).toBe(200)
})

test('of two owners who are deleted at once, one stays with the other members', async () => {
  await using app = await startApp()
  const boss = caller(`${app.url}/console`, (await signIn(app, 'boss@example.com')).headers)
  for (let round = 0; round < 5; round += 1) {
    const owner = await startTeam(app)
    const second = await owner.join('owner')
    const member = await owner.join('editor')
    const people = await peopleOf(boss)
    const remove = ({ email }: { email: string }) =>
      boss('DELETE', `/system/people/${people[email]?.id}`)
    const answers = await Promise.all([remove(owner), remove(second)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect((await member.call('GET', '/console/apps')).status).toBe(200)
  }
})

test('an operator who was only named does not count until they have signed in', async () => {
  await using app = await startApp()
  const boss = await signIn(app, 'boss@example.com')
  const call = caller(`${app.url}/console`, boss.headers)
  const admin = (...args: string[]) => run(['admin', ...args], app.dataDir, app.databaseEnv)
  const named = await admin('new@example.com')
  expect([named.code, named.out]).toEqual([
    0,
    expect.stringContaining('as soon as they have signed in'),
  ])
  expect((await peopleOf(call))['new@example.com']).toMatchObject({ operator: false, named: true })
  expect((await admin('boss@example.com', '--remove')).code).toBe(1)
  expect((await call('GET', '/system')).status).toBe(200)
  expect((await signIn(app, 'new@example.com')).me).toMatchObject({ operator: true })
  expect((await peopleOf(call))['new@example.com']).toMatchObject({ operator: true, named: false })
  expect((await admin('boss@example.com', '--remove')).code).toBe(0)
  expect((await call('GET', '/system')).status).toBe(403)
  // A disabled one does not count either.
  expect((await admin('boss@example.com')).code).toBe(0)
  const { id } = (await peopleOf(call))['new@example.com'] as Person
  expect((await call('PUT', `/system/people/${id}`, { disabled: true })).status).toBe(200)
  expect((await admin('boss@example.com', '--remove')).code).toBe(1)
})

test('of two operators who delete each other at once, one stays', async () => {
  await using app = await startApp()
  const one = await signIn(app, 'one@example.com')
  expect((await run(['admin', 'two@example.com'], app.dataDir, app.databaseEnv)).code).toBe(0)
  const two = await signIn(app, 'two@example.com')
  const remove = (by: typeof one, whom: typeof one) =>
    caller(`${app.url}/console`, by.headers)('DELETE', `/system/people/${whom.me.user_id}`)
  const answers = await Promise.all([remove(one, two), remove(two, one)])
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const rows = await app.db.all({ sql: 'SELECT 1 FROM "user" WHERE operator = 1', args: [] })
  expect(rows).toHaveLength(1)
})

test('an operator cannot lock themselves out, and a former operator sees nothing', async () => {
  await using app = await startApp()
  const { headers, me } = await signIn(app, 'boss@example.com')
  const boss = caller(`${app.url}/console`, headers)
  const own = `/system/people/${me.user_id}`
  expect((await boss('PUT', own, { disabled: true })).headers.get('x-error-code')).toBe(
    'own_account',
  )
  expect((await boss('DELETE', own)).headers.get('x-error-code')).toBe('own_account')
  expect((await boss('PUT', own, { disabled: 1 })).status).toBe(400)
  expect((await boss('DELETE', '/system/people/unknown')).status).toBe(404)

  const admin = (...args: string[]) => run(['admin', ...args], app.dataDir, app.databaseEnv)
  expect((await admin('boss@example.com', '--remove')).code).toBe(1)
  expect((await admin('new@example.com')).code).toBe(0)
  const next = await signIn(app, 'new@example.com')
  expect(next.me).toMatchObject({ operator: true })
  expect((await admin('boss@example.com', '--remove')).code).toBe(0)
  expect((await boss('GET', '/system')).status).toBe(403)
  expect((await admin('nobody@example.com', '--remove')).code).toBe(1)
  expect((await admin('no address')).code).toBe(1)
})
