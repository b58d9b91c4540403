import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startApp, type TestApp } from '../../support/app.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { requestCode, verifyCode } from '../../support/login.ts'

let app: TestApp
let clock: FakeClock
beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock, env: { MB_TRUST_PROXY: '1' } })
})
afterAll(() => app[Symbol.asyncDispose]())

/** Each caller has an address of its own, as limits count by it. */
let callers = 0
const from = () => ({ 'x-forwarded-for': `198.51.100.${++callers % 250}` })
/** A POST whose body stays behind until `finish`; `begun` when its head was sent. */
function heldBack(path: string, body: string, headers: Record<string, string>) {
  const status = Promise.withResolvers<number>()
  const { hostname, port } = new URL(app.url)
  const head = Object.entries({ ...headers, host: 'here', 'content-length': body.length })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const socket = connect({ host: hostname, port: Number(port) })
  socket.once('data', (bytes) => status.resolve(Number(bytes.toString().split(' ')[1])))
  const begun = new Promise<void>((resolve) => {
    socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n`, () => resolve())
  })
  const finish = () => void socket.end(body)
  return { begun, finish, status: status.promise }
}

/** A code of six digits that is not the one given. */
const other = (code: string, step = 1) => String((Number(code) + step) % 1_000_000).padStart(6, '0')
test('five wrong guesses void a login code, four do not', async () => {
  const spared = await requestCode(app, 'four@example.com', from())
  for (let step = 1; step <= 4; step++) {
    const wrong = await verifyCode(app, 'four@example.com', other(spared, step), from())
    expect(wrong.status).toBe(401)
  }
  expect((await verifyCode(app, 'four@example.com', spared, from())).status).toBe(200)

  const code = await requestCode(app, 'five@example.com', from())
  for (let step = 1; step <= 5; step++) {
    await verifyCode(app, 'five@example.com', other(code, step), from())
  }
  expect((await verifyCode(app, 'five@example.com', code, from())).status).toBe(401)
})

test('wrong guesses at a login code at the same time all count', async () => {
  const code = await requestCode(app, 'guess@example.com', from())
  await Promise.all(
    Array.from({ length: 5 }, (_, step) =>
      verifyCode(app, 'guess@example.com', other(code, step + 1), from()),
    ),
  )
  expect((await verifyCode(app, 'guess@example.com', code, from())).status).toBe(401)
})

test('a client that guesses at the codes of many people is stopped alone', async () => {
  const guesser = { 'x-forwarded-for': '203.0.113.7' }
  const guess = (email: string, code: string) => verifyCode(app, email, code, guesser)
  for (let person = 0; person < 20; person++) {
    const email = `guessed${person}@example.com`
    const code = await requestCode(app, email, from())
    for (let step = 1; step <= 5; step++) {
      expect((await guess(email, other(code, step))).status).toBe(401)
    }
    if (person % 10 === 9) clock.advance(60_000)
  }
  const code = await requestCode(app, 'guessed@example.com', from())
  const refused = await guess('guessed@example.com', code)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
  expect((await verifyCode(app, 'guessed@example.com', code, from())).status).toBe(200)
  clock.advance(60 * 60_000)
  const later = await requestCode(app, 'guessed@example.com', from())
  expect((await guess('guessed@example.com', later)).status).toBe(200)
})

test('fifty wrong guesses at one person end guessing for a day', async () => {
  const email = 'target@example.com'
  for (let round = 0; round < 10; round++) {
    const code = await requestCode(app, email, from())
    for (let step = 1; step <= 5; step++) {
      expect((await verifyCode(app, email, other(code, step), from())).status).toBe(401)
    }
    if (round % 5 === 4) clock.advance(10 * 60_000)
  }
  const refused = await verifyCode(app, 'Target@example.com', '000000', from())
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(23 * 3600)
  await expect(requestCode(app, email, from())).rejects.toThrow('429')
  clock.advance(24 * 60 * 60_000)
  const code = await requestCode(app, email, from())
  expect((await verifyCode(app, email, code, from())).status).toBe(200)
})

test('guesses whose bodies are held back and arrive together pass no limit', async () => {
  const guesser = { 'x-forwarded-for': '203.0.113.20' }
  const people: { email: string; code: string }[] = []
  for (let person = 0; person < 24; person++) {
    const email = `held${person}@example.com`
    people.push({ email, code: await requestCode(app, email, from()) })
  }
  const guesses = people.flatMap(({ email, code }) =>
    [1, 2, 3, 4, 5].map((step) => JSON.stringify({ email, code: other(code, step) })),
  )
  const held = guesses.map((body) => heldBack('/auth/email/verify', body, guesser))
  for (const { begun } of held) await begun
  await fetch(`${app.url}/healthz`)
  for (const { finish } of held) finish()
  const statuses = await Promise.all(held.map(({ status }) => status))
  expect(statuses.filter((status) => status === 401).length).toBe(100)
  expect(statuses.filter((status) => status === 429).length).toBe(20)
})
