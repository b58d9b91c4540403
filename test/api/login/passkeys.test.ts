import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Call, caller } from '../../support/api.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import {
  type Deviation,
  type SoftAuthenticator,
  softAuthenticator,
} from '../../support/authenticator.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'

const ORIGIN = 'https://moon.example'

let clock: FakeClock
let app: TestApp
beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock, env: { MB_PUBLIC_URL: `${ORIGIN}/`, MB_TRUST_PROXY: '1' } })
  await app.operator()
})
afterAll(() => app[Symbol.asyncDispose]())

/** Everyone comes from an address of their own, as limits count by it. */
let callers = 0
const from = () => ({ 'x-forwarded-for': `198.51.${++callers >> 8}.${callers & 255}` })

type Row = {
  id: string
  name: string
  created_at: string
  last_used_at: string | null
  backed_up: boolean
  transports: string[]
}
const cookiesOf = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((one) => one.split(';')[0] ?? '')
    .filter((one) => !one.endsWith('='))
    .join('; ')

/** A signed-in person and their browser. */
async function browserOf(email: string, server: TestApp = app) {
  const { headers } = await server.person(email)
  return caller(server.url, { ...headers, ...from() })
}

async function beginAdd(call: Call) {
  const begun = await call('POST', '/auth/passkeys/options')
  expect(begun.status).toBe(200)
  const options = begun.json() as never as Parameters<SoftAuthenticator['create']>[0]
  return { options, cookie: cookiesOf(begun.headers) }
}

async function add(call: Call, key: SoftAuthenticator, how: Deviation = {}, name = 'Phone') {
  const { options, cookie } = await beginAdd(call)
  const session = (call as unknown as { cookie?: string }).cookie ?? ''
  const body = { name, response: key.create(options, how) }
  return call<Row>('POST', '/auth/passkeys', body, { cookie: `${session}; ${cookie}` })
}

/** As `browserOf`, and what a browser does with its cookies. */
async function person(email: string, server: TestApp = app) {
  const call = await browserOf(email, server)
  const { headers } = await server.person(email)
  return Object.assign(call, { cookie: headers.cookie })
}

const visitor = () => caller(app.url, from())

async function beginSignIn(call: Call) {
  const begun = await call('POST', '/auth/passkey/options')
  expect(begun.status).toBe(200)
  const options = begun.json() as never as Parameters<SoftAuthenticator['get']>[0]
  return { options, cookie: cookiesOf(begun.headers) }
}

async function signInBy(key: SoftAuthenticator, how: Deviation = {}) {
  const call = visitor()
  const { options, cookie } = await beginSignIn(call)
  return call('POST', '/auth/passkey/verify', { response: key.get(options, how) }, { cookie })
}

const refused = (answer: { status: number; headers: Headers }) => {
  expect(answer.status).toBe(401)
  expect(answer.headers.get('x-error-code')).toBe('passkey_refused')
  expect(answer.headers.getSetCookie().join()).not.toContain('mb_session')
}

test('a person adds a passkey, signs in with it, renames and removes it', async () => {
  const ada = await person('ada@example.com')
  const key = softAuthenticator(ORIGIN)
  const { options } = await beginAdd(ada)
  expect(options).toMatchObject({
    rp: { id: 'moon.example' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
  })
  expect(JSON.stringify(Buffer.from(options.user.id, 'base64url').toString())).not.toContain('ada')
  const made = await add(ada, key)
  expect(made.status).toBe(201)
  const row = made.json()
  expect(row).toMatchObject({ name: 'Phone', last_used_at: null, transports: ['internal'] })
  expect((await ada<{ passkeys: Row[] }>('GET', '/auth/passkeys')).json()).toEqual({
    passkeys: [row],
  })
  const methods = await visitor()('GET', '/auth/methods')
  expect(methods.json()).toMatchObject({ passkey: true, email: true })

  const asked = await beginSignIn(visitor())
  expect(asked.options).toMatchObject({ rpId: 'moon.example', userVerification: 'required' })
  expect(asked.options).not.toHaveProperty('allowCredentials.0')
  const entered = await signInBy(key)
  expect(entered.status).toBe(200)
  expect(entered.json()).toMatchObject({ email: 'ada@example.com' })
  const session = cookiesOf(entered.headers)
  expect((await caller(app.url, { cookie: session })('GET', '/auth/me')).status).toBe(200)
  const used = (await ada<{ passkeys: Row[] }>('GET', '/auth/passkeys')).json().passkeys[0]
  expect(used?.last_used_at).not.toBeNull()

  expect((await ada('PUT', `/auth/passkeys/${row.id}`, { name: ' ' })).status).toBe(400)
  expect((await ada('PUT', `/auth/passkeys/${row.id}`, { name: 'x'.repeat(61) })).status).toBe(400)
  const renamed = await ada<Row>('PUT', `/auth/passkeys/${row.id}`, { name: 'Laptop' })
  expect(renamed.json().name).toBe('Laptop')
  const gone = await ada('DELETE', `/auth/passkeys/${row.id}`)
  expect(gone.json()).toEqual({ id: row.id, deleted: true })
  expect((await ada('DELETE', `/auth/passkeys/${row.id}`)).status).toBe(404)
  refused(await signInBy(key))
  type Page = { entries: { action: string; target: string; target_name: string }[] }
  const { entries } = (await ada<Page>('GET', '/console/audit')).json()
  expect(entries.map(({ action, target_name: name }) => [action, name])).toEqual([
    ['passkey.delete', 'Laptop'],
    ['passkey.update', 'Laptop'],
    ['passkey.create', 'Phone'],
  ])
})

test('whatever is wrong with an answer is refused alike, and stands in the audit', async () => {
  const eve = await person('eve@example.com')
  const key = softAuthenticator(ORIGIN)
  expect((await add(eve, key)).status).toBe(201)
  const bob = await person('bob@example.com')
  const other = softAuthenticator(ORIGIN)
  expect((await add(bob, other)).status).toBe(201)
  expect((await signInBy(key, { counter: 7 })).status).toBe(200)
  const wrong: Deviation[] = [
    { origin: 'https://evil.example', counter: 20 },
    { rpId: 'evil.example', counter: 21 },
    { verified: false, counter: 22 },
    { userHandle: other.state.userHandle, counter: 23 },
    { type: 'webauthn.create', counter: 24 },
    { challenge: Buffer.alloc(32, 1).toString('base64url'), counter: 25 },
    { counter: 7 },
    { counter: 3 },
    { counter: 0 },
  ]
  const bodies = new Set<string>()
  for (const how of wrong) {
    const answer = await signInBy(key, how)
    refused(answer)
    bodies.add(answer.text)
  }
  const stranger = await signInBy(softAuthenticator(ORIGIN))
  refused(stranger)
  expect(bodies).toEqual(new Set([stranger.text]))
  type Page = { entries: { action: string; person: string }[] }
  const { entries } = (await eve<Page>('GET', '/console/audit')).json()
  const told = entries.filter(({ action }) => action === 'passkey.refuse')
  expect(told.map(({ person: who }) => who)).toEqual(wrong.map(() => 'eve@example.com'))
  expect((await signInBy(key, { counter: 26 })).status).toBe(200)
})

test('a challenge belongs to one browser and is spent by its first try', async () => {
  const key = softAuthenticator(ORIGIN)
  expect((await add(await person('once@example.com'), key)).status).toBe(201)
  const call = visitor()
  const { options, cookie } = await beginSignIn(call)
  const response = key.get(options)
  const verify = (body: object, jar: string) =>
    call('POST', '/auth/passkey/verify', { response: body }, { cookie: jar })
  const foreign = await beginSignIn(visitor())
  refused(await verify(response, foreign.cookie))
  refused(await verify(response, ''))
  expect((await verify(response, cookie)).status).toBe(200)
  refused(await verify(response, cookie))

  const again = await beginSignIn(call)
  refused(await verify(key.get(again.options, { origin: 'https://evil.example' }), again.cookie))
  refused(await verify(key.get(again.options), again.cookie))

  const late = await beginSignIn(call)
  clock.advance(5 * 60_000 + 1)
  refused(await verify(key.get(late.options), late.cookie))

  // Of many at once with one challenge, one is in.
  const race = await beginSignIn(call)
  const said = key.get(race.options)
  const answers = await Promise.all(Array.from({ length: 5 }, () => verify(said, race.cookie)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
})

test('an authenticator that does not count signs in again and again', async () => {
  const key = softAuthenticator(ORIGIN)
  expect((await add(await person('zero@example.com'), key)).status).toBe(201)
  for (const _ of [1, 2]) expect((await signInBy(key, { counter: 0 })).status).toBe(200)
})

test('a registration that is wrong adds nothing', async () => {
  const call = await person('wrong@example.com')
  const other = await person('other@example.com')
  const key = softAuthenticator(ORIGIN)
  const wrong: Deviation[] = [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { verified: false },
    { type: 'webauthn.get' },
    { challenge: 'AAAA' },
  ]
  for (const how of wrong) expect((await add(call, key, how)).status).toBe(400)
  for (const response of [{}, { id: 'a' }, { id: 'a', rawId: 'a', type: 'x', response: null }]) {
    const { cookie } = await beginAdd(call)
    const jar = { cookie: `${call.cookie}; ${cookie}` }
    const answer = await call('POST', '/auth/passkeys', { name: 'x', response }, jar)
    expect(answer.status).toBe(400)
  }
  // The challenge of one person is none of another, nor one for signing in.
  const theirs = await beginAdd(other)
  const jar = { cookie: `${call.cookie}; ${theirs.cookie}` }
  const body = { name: 'x', response: key.create(theirs.options) }
  expect((await call('POST', '/auth/passkeys', body, jar)).status).toBe(400)
  const general = await beginSignIn(visitor())
  const made = key.create({ ...theirs.options, challenge: general.options.challenge })
  const mixed = { cookie: `${call.cookie}; ${general.cookie}` }
  expect((await call('POST', '/auth/passkeys', { name: 'x', response: made }, mixed)).status).toBe(
    400,
  )
  expect((await call('GET', '/auth/passkeys')).json()).toEqual({ passkeys: [] })

  expect((await add(call, key)).status).toBe(201)
  expect((await add(other, key)).status).toBe(400)
  expect((await add(call, key)).status).toBe(400)
  const foreign = (await call<{ passkeys: Row[] }>('GET', '/auth/passkeys')).json().passkeys[0]
  expect((await other('PUT', `/auth/passkeys/${foreign?.id}`, { name: 'x' })).status).toBe(404)
  expect((await other('DELETE', `/auth/passkeys/${foreign?.id}`)).status).toBe(404)
})

test('a person has at most 20 passkeys', async () => {
  const call = await person('many@example.com')
  for (let n = 0; n < 20; n++) {
    expect((await add(call, softAuthenticator(ORIGIN))).status).toBe(201)
  }
  const more = await call('POST', '/auth/passkeys/options')
  expect([more.status, more.headers.get('x-error-code')]).toEqual([403, 'quota_passkeys'])
})

test('adding a passkey needs a sign-in of the last ten minutes', async () => {
  const call = await person('late@example.com')
  const { options, cookie } = await beginAdd(call)
  clock.advance(4 * 60_000)
  const key = softAuthenticator(ORIGIN)
  clock.advance(6 * 60_000 + 1_000)
  const jar = { cookie: `${call.cookie}; ${cookie}` }
  for (const answer of [
    await call('POST', '/auth/passkeys/options'),
    await call('POST', '/auth/passkeys', { name: 'x', response: key.create(options) }, jar),
  ]) {
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'sign_in_again'])
  }
  expect((await call('GET', '/auth/passkeys')).status).toBe(200)
})

test('a disabled person is not let in', async () => {
  const key = softAuthenticator(ORIGIN)
  expect((await add(await person('off@example.com'), key)).status).toBe(201)
  await app.db.run({
    sql: `UPDATE "user" SET disabled = 1 WHERE email = ?`,
    args: ['off@example.com'],
  })
  refused(await signInBy(key))
})

test('an answer of any wrong form is refused as a wrong one', async () => {
  const call = visitor()
  const wrong = await call('POST', '/auth/passkey/verify', { response: {} })
  for (const body of [{}, [], null, 1, { response: null }, { response: 'x' }]) {
    const answer = await call('POST', '/auth/passkey/verify', body)
    expect([answer.status, answer.text]).toEqual([401, wrong.text])
    expect(answer.headers.get('x-error-code')).toBe('passkey_refused')
  }
})

test('one address has twenty tries a minute', async () => {
  const call = visitor()
  for (let n = 0; n < 20; n++) {
    expect((await call('POST', '/auth/passkey/verify', { response: {} })).status).toBe(401)
  }
  expect((await call('POST', '/auth/passkey/verify', { response: {} })).status).toBe(429)
})
