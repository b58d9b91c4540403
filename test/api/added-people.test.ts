import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { signIn } from '../support/login.ts'
import { startMailServer } from '../support/mail-server.ts'

let mail: Awaited<ReturnType<typeof startMailServer>>
let app: TestApp
let boss: Call
beforeAll(async () => {
  mail = await startMailServer()
  app = await startApp({ env: { MB_SIGNUP: 'closed', MB_PUBLIC_URL: 'https://moon.example' } })
  boss = caller(app.url, (await app.operator('boss@example.com')).headers)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await mail.stop()
})

type Person = { id: string; email: string; operator: boolean; named: boolean; disabled: boolean }
const TODAY = Math.floor(Date.now() / 86_400_000)
const PEOPLE = '/console/system/people'
const add = (email: string, rest: object = {}) => boss<Person>('POST', PEOPLE, { email, ...rest })
const put = (id: string, body: object, by = boss) => by<Person>('PUT', `${PEOPLE}/${id}`, body)
const codeOf = (answer: { status: number; headers: Headers }) => [
  answer.status,
  answer.headers.get('x-error-code'),
]

test('an added person may sign in though sign-up is closed, and owns a tenant', async () => {
  const made = await add(' Ada@Example.com ')
  expect(made.status).toBe(201)
  expect(made.json()).toMatchObject({ email: 'ada@example.com', operator: false, disabled: false })
  expect(made.json()).toMatchObject({ tenants: [{ name: 'ada', role: 'owner' }] })
  expect(codeOf(await add('ada@example.com'))).toEqual([400, 'name_taken'])
  expect((await add('no address')).status).toBe(400)
  const race = await Promise.all([1, 2, 3].map(() => add('race@example.com')))
  expect(race.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  expect((await signIn(app, 'ada@example.com')).me.email).toBe('ada@example.com')
})

test('with mail, an added person is welcomed with the address of the server', async () => {
  await boss('PUT', '/console/system', { MB_SMTP_URL: mail.url })
  const incoming = mail.next()
  expect((await add('mailed@example.com', { operator: true })).json().named).toBe(true)
  const { to, raw } = await incoming
  expect(to).toEqual(['mailed@example.com'])
  expect(raw).toContain('https://moon.example')
  await boss('PUT', '/console/system', { MB_SMTP_URL: null })
})

test('a link of an operator signs its person in once, and their tokens are seen', async () => {
  const made = (await add('linked@example.com')).json() as Person & { tokens_today: number }
  expect(made.tokens_today).toBe(0)
  const link = await boss<{ url: string; expires_at: string }>('POST', `${PEOPLE}/${made.id}/link`)
  expect([link.status, link.headers.get('cache-control')]).toEqual([201, 'no-store'])
  const { url } = link.json()
  expect(url).toStartWith('https://moon.example/auth/link/')
  const open = () => fetch(`${app.url}${new URL(url).pathname}`, { redirect: 'manual' })
  const first = await open()
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
  const linked = caller(app.url, { cookie, origin: 'https://moon.example' })
  const me = (await linked<{ email: string; tenant_id: string }>('GET', '/auth/me')).json()
  expect(me.email).toBe('linked@example.com')
  expect((await open()).headers.get('location')).toBe('/login?error=expired')
  expect((await linked('POST', `${PEOPLE}/${made.id}/link`)).status).toBe(403)

  await app.db.run({
    sql: `INSERT INTO usage_person_day (tenant_id, day, user_id, input_tokens, output_tokens)
      VALUES (?, ?, ?, 3, 4), (?, ?, ?, 100, 0)`,
    args: [me.tenant_id, TODAY, made.id, me.tenant_id, TODAY - 1, made.id],
  })
  const { people } = (await boss<{ people: (typeof made)[] }>('GET', PEOPLE)).json()
  expect(people.find(({ id }) => id === made.id)?.tokens_today).toBe(7)
  expect((await put(made.id, {})).json()).toMatchObject({ tokens_today: 7 })
  const audit = (await boss<{ entries: object[] }>('GET', '/console/audit')).json().entries
  expect(audit).toContainEqual(expect.objectContaining({ action: 'person.link', target: made.id }))
  expect(app.log()).not.toContain(url.slice(-20))
})

test('a person becomes operator and is none again; what is omitted is kept', async () => {
  const { id } = (await add('eve@example.com')).json()
  const eve = caller(app.url, (await signIn(app, 'eve@example.com')).headers)
  expect((await eve('GET', PEOPLE)).status).toBe(403)
  expect((await put(id, { operator: true })).json()).toMatchObject({ operator: true })
  expect((await eve('GET', PEOPLE)).status).toBe(200)
  expect((await put(id, {})).json()).toMatchObject({ operator: true, disabled: false })
  expect((await put(id, { disabled: true })).json()).toMatchObject({
    operator: true,
    disabled: true,
  })
  expect((await put(id, { disabled: false, operator: false })).json()).toMatchObject({
    operator: false,
    disabled: false,
  })
  for (const body of [{ operator: 'yes' }, { disabled: 1 }]) {
    expect((await put(id, body)).status).toBe(400)
  }
})

test('of two operators who step down at once, one stays', async () => {
  const { id } = (await add('two@example.com', { operator: true })).json()
  const two = caller(app.url, (await signIn(app, 'two@example.com')).headers)
  const people = (await boss<{ people: Person[] }>('GET', PEOPLE)).json().people
  const own = people.find(({ email }) => email === 'boss@example.com')?.id ?? ''
  for (const other of people) {
    if (other.id !== own && other.id !== id) await put(other.id, { operator: false })
  }
  const ends = await Promise.all([put(own, { operator: false }), put(id, { operator: false }, two)])
  expect(ends.map(({ status }) => status).sort()).toEqual([200, 400])
  const refused = ends.find(({ status }) => status === 400)
  expect(refused?.headers.get('x-error-code')).toBe('last_operator')
  await app.db.run({ sql: 'UPDATE "user" SET operator = 1 WHERE id = ?', args: [own] })
})

test('an operator ends all sessions of a person, and no key', async () => {
  const { id } = (await add('out@example.com')).json()
  const { headers } = await signIn(app, 'out@example.com')
  const person = caller(app.url, headers)
  const { key } = (await person<{ key: string }>('POST', '/console/keys', {})).json()
  expect((await boss('POST', `${PEOPLE}/${id}/sign-out`)).status).toBe(200)
  expect((await person('GET', '/auth/me')).status).toBe(401)
  const bearer = caller(app.url, { authorization: `Bearer ${key}` })
  expect((await bearer('GET', '/v1/apps')).status).toBe(200)
  expect((await boss('POST', `${PEOPLE}/none/sign-out`)).status).toBe(404)
})
