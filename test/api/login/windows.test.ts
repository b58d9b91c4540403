import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { caller } from '../../support/api.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { fakeClock } from '../../support/clock.ts'
import { signIn } from '../../support/login.ts'
import { type Me, meOf, startTeam } from '../../support/team.ts'

let app: TestApp

beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const tenantOf = async (headers: Record<string, string>) =>
  (await meOf(caller(app.url, headers))).tenant_id

describe('the tenant of a browser', () => {
  test('another browser stays where it is, and a new one begins in the own tenant', async () => {
    const owner = await startTeam(app)
    const { email, headers: one } = await owner.join('editor')
    const two = await signIn(app, email)
    expect(await tenantOf(one)).toBe(owner.tenantId)
    expect(await tenantOf(two.headers)).toBe(two.me.tenant_id)
    expect(two.me.tenant_id).not.toBe(owner.tenantId)
    const moved = caller(app.url, two.headers)
    await moved('POST', '/auth/tenant', { tenant_id: owner.tenantId })
    await caller(app.url, one)('POST', '/auth/tenant', { tenant_id: two.me.tenant_id })
    expect(await tenantOf(two.headers)).toBe(owner.tenantId)
    expect(await tenantOf(one)).toBe(two.me.tenant_id)
  })

  test('a window that was loaded for another tenant saves nothing', async () => {
    const owner = await startTeam(app)
    const { call } = await owner.join('editor')
    const own = (await meOf(call)).tenants.find(({ role }) => role === 'owner')?.id ?? ''
    const from = (tenant: string) => ({ 'x-moonbase-tenant': tenant })
    const make = (name: string, tenant: string) =>
      call('POST', '/console/apps', { name }, from(tenant))
    expect((await make('ours', owner.tenantId)).status).toBe(201)
    await call('POST', '/auth/tenant', { tenant_id: own })
    const stale = await make('theirs', owner.tenantId)
    expect([stale.status, stale.headers.get('x-error-code')]).toEqual([409, 'tenant_changed'])
    expect((await call('GET', '/console/apps', undefined, from(owner.tenantId))).status).toBe(409)
    const list = async () => (await call<{ apps: unknown[] }>('GET', '/console/apps')).json().apps
    expect(await list()).toEqual([])
    expect((await make('mine', own)).status).toBe(201)
  })

  test('a session of a tenant that the person left is refused there, and moves home', async () => {
    const owner = await startTeam(app)
    const { id, call } = await owner.join('editor')
    const own = (await meOf(call)).tenants.find(({ role }) => role === 'owner')?.id
    await owner.call('DELETE', `/console/members/${id}`)
    const refused = await call('POST', '/console/apps', { name: 'a' })
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([401, 'not_signed_in'])
    expect((await call<Me>('GET', '/auth/me')).json().tenant_id).toBe(own ?? '')
    expect((await call('POST', '/console/apps', { name: 'a' })).status).toBe(201)
    const back = await call('POST', '/auth/tenant', { tenant_id: owner.tenantId })
    expect(back.status).toBe(404)
  })
})

describe('logging out', () => {
  const status = async (headers: Record<string, string>, path = '/auth/me') =>
    (await fetch(app.url + path, { headers })).status

  test('a copied cookie is worth nothing after the browser has logged out', async () => {
    const [one, two] = [await signIn(app, 'c@example.com'), await signIn(app, 'c@example.com')]
    const out = await fetch(`${app.url}/auth/logout`, { method: 'POST', headers: one.headers })
    expect([out.status, await out.json()]).toEqual([200, { ok: true }])
    expect([await status(one.headers), await status(one.headers, '/console/apps')]).toEqual([
      401, 401,
    ])
    expect(await status(two.headers)).toBe(200)
  })

  test('logging out everywhere ends all sessions of the person and no key', async () => {
    const [one, two] = [await signIn(app, 'd@example.com'), await signIn(app, 'd@example.com')]
    const other = await signIn(app, 'e@example.com')
    const { key } = await app.key('d@example.com')
    const everywhere = (headers: Record<string, string>) =>
      fetch(`${app.url}/auth/logout?everywhere=1`, { method: 'POST', headers })
    const out = await everywhere(one.headers)
    expect(await out.json()).toEqual({ ok: true })
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0')
    expect([await status(one.headers), await status(two.headers)]).toEqual([401, 401])
    expect(await status(other.headers)).toBe(200)
    expect(await status({ authorization: `Bearer ${key}` }, '/v1/apps')).toBe(200)
    expect((await everywhere(one.headers)).status).toBe(401)
    const again = await signIn(app, 'd@example.com')
    expect(await status(again.headers)).toBe(200)
  })

  test('sessions that have ended are forgotten when their tokens expire, not before', async () => {
    const clock = fakeClock()
    await using server = await startApp({ clock })
    const { headers } = await signIn(server)
    await fetch(`${server.url}/auth/logout`, { method: 'POST', headers })
    const rows = () => server.db.all({ sql: 'SELECT id FROM console_session', args: [] })
    clock.advance(6 * 86_400_000)
    await server.prune()
    expect(await rows()).toHaveLength(1)
    expect((await fetch(`${server.url}/auth/me`, { headers })).status).toBe(401)
    clock.advance(2 * 86_400_000)
    await server.prune()
    clock.advance(3_600_000)
    await server.prune()
    expect(await rows()).toHaveLength(0)
  })
})
