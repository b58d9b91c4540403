import { afterAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp } from '../support/app.ts'
import { startUpstream } from '../support/upstream.ts'

const upstream = await startUpstream()
const limits = { personRequestsMax: 10, studioTurnsMax: 2 }
const app = await startApp({ upstream: upstream.baseUrl, ...limits })
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})
const consoleOf = async (email: string) =>
  caller(`${app.url}/console`, (await app.person(email)).headers)

test('a person may begin a limited number of studio turns a minute', async () => {
  const [first, second] = [await consoleOf('a@example.com'), await consoleOf('b@example.com')]
  const turn = { text: 'hi', kb: false }
  expect((await first('POST', '/agent', turn)).status).toBe(200)
  expect((await first('POST', '/agent', turn)).status).toBe(200)
  const asked = upstream.requests.length
  const refused = await first('POST', '/agent', turn)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('x-error-code')).toBe('rate_limited')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(upstream.requests.length).toBe(asked)
  // Trying a tool takes as much of the machine as a turn.
  expect((await first('POST', '/mcp-servers/x/call', {})).status).toBe(429)
  expect((await first('GET', '/apps')).status).toBe(200)
  expect((await second('POST', '/agent', turn)).status).toBe(200)
})

test('a person may send a limited number of console requests a minute', async () => {
  const [first, second] = [await consoleOf('c@example.com'), await consoleOf('d@example.com')]
  for (let n = 0; n < 10; n++) expect((await first('GET', '/apps')).status).toBe(200)
  const refused = await first('GET', '/apps')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await second('GET', '/apps')).status).toBe(200)
})
