import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { requestCode, signIn, verifyCode } from '../support/login.ts'
import { startMailServer } from '../support/mail-server.ts'
import { postSse } from '../support/sse.ts'
import { type Me, type Member, meOf, type Role, startTeam } from '../support/team.ts'
import { startUpstream } from '../support/upstream.ts'

let app: TestApp

beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const team = (server = app) => startTeam(server)

describe('a tenant and its name', () => {
  test('a new person owns a tenant that has their name', async () => {
    const { call, tenantId, email } = await team()
    const name = email.split('@')[0]
    expect(await meOf(call)).toMatchObject({
      role: 'owner',
      tenants: [{ id: tenantId, name, role: 'owner' }],
    })
    expect((await call('GET', '/console/settings')).json()).toMatchObject({ name })
  })

  test('the settings rename the tenant, and an omitted name is the usual one again', async () => {
    const { call, email } = await team()
    const usual = email.split('@')[0]
    const saved = await call('PUT', '/console/settings', { name: ' 客服组 ', model: 'm' })
    expect(saved.json()).toMatchObject({ name: '客服组', model: 'm' })
    expect((await meOf(call)).tenants[0]?.name).toBe('客服组')
    expect((await call('PUT', '/console/settings', { name: 'x'.repeat(61) })).status).toBe(400)
    expect((await call('PUT', '/console/settings', {})).json()).toMatchObject({ name: usual })
  })

  test('an export holds no name, and an import does not rename', async () => {
    const { call } = await team()
    await call('PUT', '/console/settings', { name: 'Ours' })
    const config = (await call<{ settings: object }>('GET', '/console/export')).json()
    expect(config.settings).not.toHaveProperty('name')
    const settings = { ...config.settings, name: 'Theirs', model: 'x' }
    await call('POST', '/console/import', { config: { ...config, settings }, mode: 'merge' })
    expect((await call('GET', '/console/settings')).json()).toMatchObject({
      name: 'Ours',
      model: 'x',
    })
  })
})

describe('invitations', () => {
  test('a newcomer begins in their own tenant, and belongs once they accept', async () => {
    const owner = await team()
    const { id, joined_at, mailed } = await owner.invite(' Bob@Example.com ', 'editor')
    expect([joined_at, mailed]).toEqual([null, false])
    const { me, headers } = await signIn(app, 'bob@example.com')
    expect(me.tenant_id).not.toBe(owner.tenantId)
    const call = caller(app.url, headers)
    expect((await meOf(call)).tenants.map(({ role }) => role)).toEqual(['owner'])
    expect((await call('POST', `/auth/invitations/${id}/accept`)).status).toBe(200)
    const { tenants } = await meOf(call)
    expect(tenants.map(({ role }) => role).sort()).toEqual(['editor', 'owner'])
    expect((await owner.list()).find(({ email }) => email === 'bob@example.com')).toMatchObject({
      role: 'editor',
      joined_at: expect.any(String),
    })
  })

  test('a known person is asked, and nothing tells the inviter that they are known', async () => {
    const [owner, other] = [await team(), await team()]
    const known = await owner.invite(other.email, 'viewer')
    const unknown = await owner.invite('nobody@example.com', 'viewer')
    expect([known.joined_at, unknown.joined_at]).toEqual([null, null])
    const me = await meOf(other.call)
    expect(me.tenants.map(({ id }) => id)).toEqual([other.tenantId])
  })

  test('an invitation of a member, an unknown role or a bad address is refused', async () => {
    const owner = await team()
    await owner.invite('twice@example.com', 'viewer')
    const post = (body: object) => owner.call('POST', '/console/members', body)
    const again = await post({ email: 'TWICE@example.com', role: 'owner' })
    expect([again.status, again.headers.get('x-error-code')]).toEqual([400, 'member_exists'])
    expect((await post({ email: 'b@example.com', role: 'admin' })).status).toBe(400)
    expect((await post({ email: 'b@', role: 'viewer' })).status).toBe(400)
    expect((await post({ role: 'viewer' })).status).toBe(400)
  })

  test('a tenant has at most 100 members, invitations included', async () => {
    const owner = await team()
    for (let i = 1; i < 100; i += 1) await owner.invite(`crowd${i}@example.com`, 'viewer')
    const body = { email: 'late@example.com', role: 'viewer' }
    const answer = await owner.call('POST', '/console/members', body)
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'quota_members'])
  })

  test("an invitation is mailed and contains only the inviter's address", async () => {
    const mail = await startMailServer()
    {
      const env = { MB_SMTP_URL: mail.url, MB_PUBLIC_URL: 'https://moon.example' }
      await using server = await startApp({ env })
      const owner = await team(server)
      await owner.call('PUT', '/console/settings', { name: 'Your bank: evil.example' })
      const received = mail.next()
      expect((await owner.invite('guest@example.com', 'viewer')).mailed).toBe(true)
      const { to, raw } = await received
      expect(to).toEqual(['guest@example.com'])
      expect(raw).toContain(owner.email)
      expect(raw).toContain('https://moon.example')
      expect(raw).not.toContain('evil.example')
      mail.state.refuses = true
      const refused = await owner.invite('nobody@example.com', 'viewer')
      expect([refused.mailed, refused.email]).toEqual([false, 'nobody@example.com'])
    }
    await mail.stop()
  })

  test('where sign-up is closed, an invited person gets no tenant of their own', async () => {
    await using server = await startApp({ env: { MB_SIGNUP: 'closed' } })
    const owner = await team(server)
    await owner.invite('guest@example.com', 'viewer')
    const { headers } = await signIn(server, 'guest@example.com')
    const call = caller(server.url, headers)
    expect((await meOf(call)).tenants).toEqual([
      { id: owner.tenantId, name: expect.any(String), role: 'viewer' },
    ])
    const [, guest] = await owner.list()
    await owner.call('DELETE', `/console/members/${guest?.id}`)
    expect((await call('GET', '/auth/me')).status).toBe(401)
    expect((await call('GET', '/console/apps')).status).toBe(401)
    const code = await requestCode(server, 'guest@example.com')
    expect((await verifyCode(server, 'guest@example.com', code)).status).toBe(401)
  })
})

describe('switching', () => {
  test('a person switches to tenants they belong to and to no other', async () => {
    const [owner, stranger] = [await team(), await team()]
    const member = await owner.join('editor')
    const app1 = (await owner.call<{ id: string }>('POST', '/console/apps', { name: 'a' })).json()
    expect((await member.call('GET', `/console/apps/${app1.id}`)).status).toBe(200)
    for (const tenant_id of [stranger.tenantId, 'unknown']) {
      expect((await member.call('POST', '/auth/tenant', { tenant_id })).status).toBe(404)
    }
    const own = (await meOf(member.call)).tenants.find(({ role }) => role === 'owner')
    const moved = await member.call<Me>('POST', '/auth/tenant', { tenant_id: own?.id })
    expect(moved.json()).toMatchObject({ tenant_id: own?.id, role: 'owner' })
    expect((await member.call('GET', `/console/apps/${app1.id}`)).status).toBe(404)
  })
})

describe('roles', () => {
  test('an editor changes all but members', async () => {
    const { call } = await (await team()).join('editor')
    expect((await call('POST', '/console/apps', { name: 'a' })).status).toBe(201)
    expect((await call('GET', '/console/members')).status).toBe(403)
    const refused = await call('POST', '/console/members', '{not json')
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([403, 'forbidden_role'])
  })

  test('a viewer reads and tries the agent', async () => {
    const { call } = await (await team()).join('viewer')
    expect((await call('GET', '/console/keys')).status).toBe(200)
    expect((await call('POST', '/console/keys', {})).status).toBe(403)
    expect((await call('POST', '/console/agent', { text: '1+1' })).status).toBe(200)
    // A draft names tools, and a model has its price.
    for (const more of [{ draft: {} }, { model: 'dear' }]) {
      expect((await call('POST', '/console/agent', { text: '1+1', ...more })).status).toBe(403)
    }
    const brief = { text: '1+1', answer_words: 50 }
    expect((await call('POST', '/console/agent', brief)).status).toBe(200)
  })

  test.each(['viewer', 'editor'] as const)('a %s gets no key for a native app', async (role) => {
    const { headers } = await (await team()).join(role)
    const query = new URLSearchParams({
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      app_scheme: 'moonbase',
    })
    const call = caller(app.url, headers)
    expect((await call('GET', `/auth/native/authorize?${query}`)).status).toBe(403)
  })

  test('a viewer neither adds to nor deletes sessions of others', async () => {
    const owner = await team()
    const { call } = await owner.join('viewer')
    const say = (who: Call, session_id: string) =>
      who('POST', '/console/agent', { text: '1+1', session_id })
    await say(owner.call, 'theirs')
    expect((await say(call, 'theirs')).status).toBe(404)
    expect((await call('DELETE', '/console/sessions/theirs')).status).toBe(200)
    const voice = { audio_b64: 'AAAA', session_id: 'theirs' }
    expect((await call('POST', '/console/voice', voice)).status).toBe(404)
    const history = '/console/sessions/theirs/history'
    expect((await owner.call('GET', history)).json()).toMatchObject({ count: 2 })
    expect((await say(call, 'own')).status).toBe(200)
    expect((await say(call, 'own')).status).toBe(200)
    expect((await call('DELETE', '/console/sessions/own')).status).toBe(200)
    // The anonymous session is shared: everybody adds to it, and a viewer cannot delete it.
    await owner.call('POST', '/console/agent', { text: '1+1' })
    expect((await call('POST', '/console/agent', { text: '1+1' })).status).toBe(200)
    expect((await call('DELETE', '/console/sessions/')).status).toBe(200)
    const anonymous = '/console/sessions//history'
    expect((await owner.call('GET', anonymous)).json()).toMatchObject({ count: 4 })
    expect((await call('GET', anonymous)).json()).toMatchObject({ count: 0 })
  })

  test('a changed role holds from the next request on', async () => {
    const owner = await team()
    const { id, call } = await owner.join('viewer')
    const put = (role: Role) => owner.call<Member>('PUT', `/console/members/${id}`, { role })
    const make = () => call('POST', '/console/apps', { name: crypto.randomUUID() })
    expect((await put('editor')).json()).toMatchObject({ id, role: 'editor' })
    expect((await make()).status).toBe(201)
    expect((await put('viewer')).status).toBe(200)
    expect((await make()).status).toBe(403)
  })

  test('one owner who has signed in stays', async () => {
    const owner = await team()
    await owner.invite('never@example.com', 'owner')
    const own = (await owner.list()).find(({ email }) => email === owner.email)
    const at = `/console/members/${own?.id}`
    const demoted = await owner.call('PUT', at, { role: 'viewer' })
    expect([demoted.status, demoted.headers.get('x-error-code')]).toEqual([400, 'last_owner'])
    expect((await owner.call('DELETE', at)).status).toBe(400)
    const second = await owner.join('owner')
    expect((await owner.call('PUT', at, { role: 'viewer' })).status).toBe(200)
    expect((await second.call('DELETE', at)).status).toBe(200)
  })
})

describe('removal', () => {
  test('a removed member is out at once, and back in their own tenant later', async () => {
    const owner = await team()
    const { id, email, call } = await owner.join('editor')
    expect((await owner.call('DELETE', `/console/members/${id}`)).json()).toEqual({
      id,
      deleted: true,
      revoked_keys: 0,
    })
    expect((await call('GET', '/console/apps')).status).toBe(401)
    const { me } = await signIn(app, email)
    expect(me.tenant_id).not.toBe(owner.tenantId)
    // The console asks who is signed in; from then on the session is in their own tenant.
    expect((await call('GET', '/auth/me')).json()).toMatchObject({
      ...{ role: 'owner', tenant_id: me.tenant_id },
    })
    expect((await call('GET', '/console/apps')).status).toBe(200)
    expect((await call('POST', '/auth/tenant', { tenant_id: owner.tenantId })).status).toBe(404)
  })

  test('a page that names its tenant is told that a removed member is in another one', async () => {
    const owner = await team()
    const { id, headers } = await owner.join('editor')
    await owner.call('DELETE', `/console/members/${id}`)
    const page = { ...headers, 'x-moonbase-tenant': owner.tenantId }
    const refused = await fetch(`${app.url}/console/apps`, { headers: page })
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([409, 'tenant_changed'])
  })

  test('an open turn of a removed member ends', async () => {
    const upstream = await startUpstream()
    await using server = await startApp({ upstream: upstream.baseUrl })
    const owner = await team(server)
    const { id, headers } = await owner.join('viewer')
    upstream.reply({ text: 'a', hold: { after: 0, until: new Promise(() => {}) } })
    const stream = await postSse(`${server.url}/console/agent`, { headers, body: { text: 'x' } })
    await upstream.nextRequest()
    await owner.call('DELETE', `/console/members/${id}`)
    const events = await stream.all()
    expect(events.at(-1)?.data).toMatchObject({ type: 'error', code: 'not_signed_in' })
    await upstream.stop()
  })

  test('everybody may leave, and only owners remove others', async () => {
    const owner = await team()
    const [one, two] = [await owner.join('editor'), await owner.join('viewer')]
    expect((await two.call('DELETE', `/console/members/${one.id}`)).status).toBe(403)
    expect((await one.call('DELETE', '/console/members/unknown')).status).toBe(403)
    expect((await two.call('DELETE', `/console/members/${two.id}`)).status).toBe(200)
    expect((await owner.list()).map(({ email }) => email)).toEqual([owner.email, one.email])
  })
})
