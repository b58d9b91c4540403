import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { signIn } from '../support/login.ts'
import { type Me, meOf, startTeam } from '../support/team.ts'

let app: TestApp

beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

interface Invitation {
  readonly id: string
  readonly tenant_id: string
  readonly tenant: string
  readonly role: string
  readonly invited_by: string
}

const listOf = async (call: Call) =>
  (await call<{ invitations: Invitation[] }>('GET', '/auth/invitations')).json().invitations

const answer = (call: Call, id: string, how: 'accept' | 'decline') =>
  call('POST', `/auth/invitations/${id}/${how}`)

const lastOf = async (call: Call) =>
  (
    await call<{ entries: { action: string; person: string | null }[] }>('GET', '/console/audit')
  ).json().entries[0]

test('an invitation tells who invites, where to and as what', async () => {
  const [owner, other] = [await startTeam(app), await startTeam(app)]
  const { id } = await owner.invite(other.email, 'editor')
  const tenant = owner.email.split('@')[0]
  expect(await listOf(other.call)).toEqual([
    {
      ...{ id, tenant_id: owner.tenantId, tenant, role: 'editor', invited_by: owner.email },
      ...{ invited_at: expect.any(String) },
    } as Invitation,
  ])
  expect(await listOf(owner.call)).toEqual([])
})

test('nobody is a member before they have accepted, which the audit tells', async () => {
  const [owner, other] = [await startTeam(app), await startTeam(app)]
  const { id } = await owner.invite(other.email, 'viewer')
  expect((await meOf(other.call)).tenants).toHaveLength(1)
  expect((await answer(other.call, id, 'accept')).json()).toEqual({
    ...{ id, tenant_id: owner.tenantId },
  })
  const me = await meOf(other.call)
  expect(me.tenant_id).toBe(other.tenantId)
  expect(me.tenants.map(({ id: tenant }) => tenant)).toContain(owner.tenantId)
  expect(await listOf(other.call)).toEqual([])
  expect(await lastOf(owner.call)).toMatchObject({ action: 'member.accept', person: other.email })
})

test('a declined invitation is gone, and may be made again', async () => {
  const [owner, other] = [await startTeam(app), await startTeam(app)]
  const { id } = await owner.invite(other.email, 'viewer')
  expect((await answer(other.call, id, 'decline')).status).toBe(200)
  expect(await lastOf(owner.call)).toMatchObject({ action: 'member.decline', person: other.email })
  expect((await answer(other.call, id, 'accept')).status).toBe(404)
  expect((await owner.list()).map(({ email }) => email)).toEqual([owner.email])
  expect((await owner.invite(other.email, 'viewer')).id).not.toBe(id)
})

test('an invitation is answered once, by its person, while it stands', async () => {
  const [owner, other] = [await startTeam(app), await startTeam(app)]
  const stranger = await startTeam(app)
  const { id } = await owner.invite(other.email, 'viewer')
  for (const how of ['accept', 'decline'] as const) {
    expect((await answer(stranger.call, id, how)).status).toBe(404)
    expect((await answer(owner.call, id, how)).status).toBe(404)
  }
  const answers = await Promise.all([
    answer(other.call, id, 'accept'),
    answer(other.call, id, 'accept'),
    answer(other.call, id, 'decline'),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404])
  const again = await owner.invite('later@example.com', 'viewer')
  await owner.call('DELETE', `/console/members/${again.id}`)
  const later = await signIn(app, 'later@example.com')
  expect((await answer(caller(app.url, later.headers), again.id, 'accept')).status).toBe(404)
})

test('to go to a tenant that has invited the person is to accept', async () => {
  const [owner, other] = [await startTeam(app), await startTeam(app)]
  await owner.invite(other.email, 'editor')
  const moved = await other.call<Me>('POST', '/auth/tenant', { tenant_id: owner.tenantId })
  expect(moved.json()).toMatchObject({ tenant_id: owner.tenantId, role: 'editor' })
  expect(await lastOf(owner.call)).toMatchObject({ action: 'member.accept', person: other.email })
})

test('where sign-up is closed a newcomer belongs at once to whoever invited them', async () => {
  await using closed = await startApp({ env: { MB_SIGNUP: 'closed' } })
  const [owner, second] = [await startTeam(closed), await startTeam(closed)]
  await owner.invite('guest@example.com', 'viewer')
  await second.invite('guest@example.com', 'editor')
  const { me, headers } = await signIn(closed, 'guest@example.com')
  expect(me.tenant_id).toBe(owner.tenantId)
  const guest = caller(closed.url, headers)
  expect((await meOf(guest)).tenants).toHaveLength(2)
  // From then on they have a place to be in, and are asked.
  const third = await startTeam(closed)
  await third.invite('guest@example.com', 'viewer')
  await signIn(closed, 'guest@example.com')
  expect(await listOf(guest)).toHaveLength(1)
})
