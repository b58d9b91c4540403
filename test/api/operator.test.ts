import { expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { codesFor, signIn } from '../support/login.ts'
import { run } from '../support/run.ts'
import { postSse } from '../support/sse.ts'
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

test('tenants of a deleted sole owner go to the operator who deleted them', async () => {
  await using app = await startApp()
  const first = await signIn(app, 'boss@example.com')
  const boss = caller(`${app.url}/console`, first.headers)
  const gone = await signIn(app, 'gone@example.com')
  const theirs = caller(`${app.url}/console`, gone.headers)
  await theirs('POST', '/apps', { name: '客服' })
  const key = (await theirs<{ id: string; key: string }>('POST', '/keys')).json()
  const person = (await peopleOf(boss))['gone@example.com'] as Person
  expect(person).toMatchObject({
    ...{ operator: false, disabled: false, last_sign_in_at: expect.any(String) },
    tenants: [{ id: gone.me.tenant_id, name: 'gone', role: 'owner' }],
  })
  const removed = await boss('DELETE', `/system/people/${person.id}`)
  expect(removed.json()).toEqual({ id: person.id, deleted: true })
  expect((await theirs('GET', '/apps')).status).toBe(401)
  expect(await peopleOf(boss)).not.toHaveProperty('gone@example.com')
  const at = { tenant_id: gone.me.tenant_id }
  expect((await caller(app.url, first.headers)('POST', '/auth/tenant', at)).status).toBe(200)
  expect((await boss('GET', '/apps')).text).toContain('客服')
  expect((await boss('DELETE', `/keys/${key.id}`)).status).toBe(200)
  const again = await signIn(app, 'gone@example.com')
  expect(again.me.tenant_id).not.toBe(gone.me.tenant_id)
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
  expect((await admin('boss@example.com', '--remove')).code).toBe(0)
  expect((await boss('GET', '/system')).status).toBe(403)
  const next = await signIn(app, 'new@example.com')
  expect(next.me).toMatchObject({ operator: true })
  expect((await admin('nobody@example.com', '--remove')).code).toBe(1)
  expect((await admin('no address')).code).toBe(1)
})
