import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { caller } from '../../support/api.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { consent, consentPage } from '../../support/consent.ts'
import { signIn } from '../../support/login.ts'
import { startTeam } from '../../support/team.ts'

let app: TestApp
let clock: FakeClock
beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock })
})
afterAll(() => app[Symbol.asyncDispose]())

const verifier = () => randomBytes(32).toString('base64url')

function pathFor(code_verifier: string): string {
  clock.advance(60_000)
  const query = new URLSearchParams({
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', app_scheme: 'moonbase' },
  })
  return `/auth/native/authorize?${query}`
}

/** A code of this person, and its exchange. */
async function codeOf(headers: Record<string, string>) {
  const code_verifier = verifier()
  const answer = await consent(app.url, pathFor(code_verifier), headers)
  const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code')
  return async () => {
    const body = JSON.stringify({ code, code_verifier })
    return (await fetch(`${app.url}/auth/native/exchange`, { method: 'POST', body })).status
  }
}

const keysOf = async (team: Awaited<ReturnType<typeof startTeam>>) =>
  (await team.call<{ keys: unknown[] }>('GET', '/console/keys')).json().keys

test('a code of an owner who stays one is exchanged', async () => {
  const team = await startTeam(app)
  const { headers } = await team.join('owner')
  expect(await (await codeOf(headers))()).toBe(200)
  expect(await keysOf(team)).toHaveLength(1)
})

test('only an owner is asked for consent', async () => {
  const team = await startTeam(app)
  for (const role of ['editor', 'viewer'] as const) {
    const { headers } = await team.join(role)
    const page = await consentPage(app.url, pathFor(verifier()), headers)
    expect([page.status, page.headers.get('x-error-code')]).toEqual([403, 'forbidden_role'])
  }
})

test('a removed owner gets no key for a code from before', async () => {
  const team = await startTeam(app)
  const { id, headers } = await team.join('owner')
  const exchange = await codeOf(headers)
  await team.call('DELETE', `/console/members/${id}`)
  expect(await exchange()).toBe(401)
  expect(await keysOf(team)).toEqual([])
})

test('a code is void after a removal, also for one who has joined again', async () => {
  const team = await startTeam(app)
  const { id, email, headers, call } = await team.join('owner')
  const exchange = await codeOf(headers)
  await team.call('DELETE', `/console/members/${id}`)
  await team.invite(email, 'owner')
  await call('GET', '/auth/me')
  await call('POST', '/auth/tenant', { tenant_id: team.tenantId })
  expect(await exchange()).toBe(401)
})

test('a code is void after a demotion, also for one who was made owner again', async () => {
  const team = await startTeam(app)
  for (const again of [false, true]) {
    const { id, headers } = await team.join('owner')
    const exchange = await codeOf(headers)
    await team.call('PUT', `/console/members/${id}`, { role: 'editor' })
    if (again) await team.call('PUT', `/console/members/${id}`, { role: 'owner' })
    expect(await exchange()).toBe(401)
  }
  expect(await keysOf(team)).toEqual([])
})

test('a code is void after its person was disabled, deleted or logged out everywhere', async () => {
  await using server = await startApp({ clock })
  const boss = caller(server.url, (await server.operator()).headers)
  const own = app
  app = server
  try {
    const ends = [
      (id: string) => boss('PUT', `/console/system/people/${id}`, { disabled: true }),
      async (id: string) => {
        await boss('PUT', `/console/system/people/${id}`, { disabled: true })
        return boss('PUT', `/console/system/people/${id}`, { disabled: false })
      },
      (id: string) => boss('DELETE', `/console/system/people/${id}`),
      (_: string, headers: Record<string, string>) =>
        caller(server.url, headers)('POST', '/auth/logout?everywhere=1'),
    ]
    for (const [index, end] of ends.entries()) {
      const { me, headers } = await signIn(server, `p${index}@example.com`)
      const exchange = await codeOf(headers)
      expect((await end(me.user_id, headers)).status).toBe(200)
      expect([index, await exchange()]).toEqual([index, 401])
    }
  } finally {
    app = own
  }
})

test('of a removal and an exchange at once, no key is made after the removal', async () => {
  const team = await startTeam(app)
  for (let round = 0; round < 5; round += 1) {
    const { id, headers } = await team.join('owner')
    const exchange = await codeOf(headers)
    const before = (await keysOf(team)).length
    const [status] = await Promise.all([exchange(), team.call('DELETE', `/console/members/${id}`)])
    expect([200, 401]).toContain(status)
    expect((await keysOf(team)).length - before).toBe(status === 200 ? 1 : 0)
  }
})
