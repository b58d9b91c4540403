import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { startSigning } from '../support/mcp-signing.ts'

let all: Awaited<ReturnType<typeof startSigning>>
/** The scopes of the last sign-in. */
let granted: string[] = []

beforeAll(async () => {
  all = await startSigning()
})
afterEach(() => all.reset())
afterAll(() => all.stop())

const refused = (scope: string) =>
  new Response('SECRET', {
    status: 403,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })

/** Signs in at a server whose tool wants a scope of its own, which it names only in its refusal. */
async function signed(wanted: string) {
  const me = await all.tenant()
  const fresh = await me.signed()
  const { consents } = all.issuer
  const signIn = async () => {
    const { url, cookie } = await me.signIn(fresh.id)
    granted = (new URL(url).searchParams.get('scope') ?? '').split(' ')
    return me.back(consents(url), cookie)
  }
  granted = ['tools']
  await me.use(fresh)
  all.guard()
  const before = all.server.fault()
  all.server.fails(
    (request, rpc) =>
      before(request, rpc) ??
      (rpc?.method === 'tools/call' && !granted.includes(wanted) ? refused(wanted) : null),
  )
  return { ...me, id: fresh.id, signIn }
}

test('a call that needs more rights tells a person, whose next sign-in asks for them', async () => {
  const me = await signed('write')
  const first = await me.calls('home__echo', { text: 'x' })
  expect(first).toMatchObject({ ok: false })
  expect(first.content).toBe('Error: a person has to sign in at the tool server')
  expect(await me.read(me.id)).toMatchObject({
    ...{ state: 'ready', signed_in: true, scopes_needed: 'write' },
  })
  expect(await me.offered()).toContain('home__echo')
  expect(await me.signIn()).toBe(`/app/tools?signed_in=${me.id}`)
  expect(granted).toEqual(['tools', 'write'])
  expect(await me.read(me.id)).toMatchObject({ state: 'ready', scopes_needed: null })
  expect(await me.calls('home__echo', { text: 'x' })).toMatchObject({ ok: true })
  await me.signIn()
  expect(granted).toEqual(['tools', 'write'])
})

test('rights that were asked for and not granted send nobody to sign in again', async () => {
  const me = await signed('write')
  await me.calls('home__echo')
  await me.signIn()
  granted = ['tools']
  const again = await me.calls('home__echo')
  expect(again.content).toBe('Error: the tool server refused access')
  expect(await me.read(me.id)).toMatchObject({ signed_in: true, scopes_needed: null })
})

test.each(['a\\b', `x${'y'.repeat(2_000)}`, ''])(
  'what is no scope is asked of nobody',
  async (scope) => {
    const me = await signed(scope)
    granted = ['tools']
    await me.calls('home__echo')
    expect(await me.read(me.id)).toMatchObject({ signed_in: true, scopes_needed: null })
  },
)

test('refusals at the same time are noted together, and survive a refresh', async () => {
  const me = await signed('write')
  const tries = await Promise.all(
    [1, 2, 3].map(() =>
      me.console('POST', `/mcp-servers/${me.id}/call`, { tool: 'echo', arguments: {} }),
    ),
  )
  expect(tries.map(({ status }) => status)).toEqual([200, 200, 200])
  all.issuer.forgetTokens()
  await me.api('POST', `/mcp-servers/${me.id}/refresh`)
  expect(await me.read(me.id)).toMatchObject({ state: 'ready', scopes_needed: 'write' })
})

test('rights that calls lacked outlive a refused refresh, and no sign-out', async () => {
  const me = await signed('write')
  await me.calls('home__echo')
  all.issuer.forgetTokens()
  all.issuer.forgetRefreshes()
  await me.api('POST', `/mcp-servers/${me.id}/refresh`)
  const out = { state: 'sign_in', signed_in: false, signed_in_at: null, scopes_needed: null }
  expect(await me.read(me.id)).toMatchObject(out)
  all.issuer.asked.length = 0
  await me.api('POST', `/mcp-servers/${me.id}/refresh`)
  expect(all.issuer.paths()).toEqual([])
  await me.signIn()
  expect(granted).toEqual(['tools', 'write'])
  expect(all.issuer.paths()).toContain('/register')
  expect(await me.calls('home__echo')).toMatchObject({ ok: true })
  await me.console('DELETE', `/mcp-servers/${me.id}/sign-in`)
  await me.signIn()
  expect(granted).toEqual(['tools'])
})
