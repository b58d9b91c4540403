import { afterAll, beforeAll, expect, test } from 'bun:test'
import { askingTurn } from '../support/asks.ts'
import { startSigning } from '../support/mcp-signing.ts'

let all: Awaited<ReturnType<typeof startSigning>>

beforeAll(async () => {
  all = await startSigning({}, { era: 'sessions' })
})
afterAll(() => all.stop())

const called = (header: string) =>
  all.server.received
    .filter(({ rpc }) => rpc?.method === 'tools/call')
    .map(({ headers }) => headers.get(header) ?? '')
const ends = () => all.server.methods().filter((method) => method === 'DELETE')

test('a session goes on when its token is refreshed, and ends with the sign-in', async () => {
  const me = await all.tenant()
  all.issuer.lasts(120)
  const server = await me.use(await me.signed())
  const asking = async () => {
    all.upstream.reset()
    await (await askingTurn(all, me.key.headers, { session_id: 'a' })).all()
  }
  const twice = async () => {
    await me.calls('home__echo', { text: 'x' })
    await asking()
  }
  await twice()
  all.clock.advance(61_000)
  await twice()
  all.issuer.forgetTokens()
  await twice()
  const tokens = called('authorization')
  // The one that the server had forgotten was tried, too.
  expect(tokens).toHaveLength(7)
  expect(new Set(tokens).size).toBe(3)
  const sessions = called('mcp-session-id')
  expect(sessions).toEqual([0, 1, 0, 1, 0, 0, 1].map((index) => sessions[index] ?? ''))
  expect(new Set(sessions).size).toBe(2)

  const { url, cookie } = await me.signIn(server.id)
  await me.back(all.issuer.consents(url), cookie)
  await me.api('POST', `/mcp-servers/${server.id}/refresh`)
  await twice()
  const later = called('mcp-session-id').slice(7)
  expect(later).toHaveLength(2)
  expect(later.filter((id) => sessions.includes(id))).toEqual([])
  expect(ends()).toEqual([])
})
