import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { askingTurn, untilEvent, useAsking } from '../support/asks.ts'
import { fakeClock } from '../support/clock.ts'
import { type McpStandIn, startMcpServer } from '../support/mcp-server.ts'
import { type McpTenant, mcpTenant } from '../support/mcp-tenant.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

type Headers = Record<string, string>
type Answer = (body: unknown, by?: Headers, id?: string) => Promise<number>

const TRIES = 4
const clock = fakeClock({ timers: 'moved' })
let upstream: Upstream
let server: McpStandIn
let app: TestApp
let me: McpTenant
let serverId: string
let appId: string
let person: Headers
/** Credentials that are not of who was asked. */
let strangers: readonly Headers[]

beforeAll(async () => {
  upstream = await startUpstream()
  server = startMcpServer()
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  app = await startApp({ upstream: upstream.baseUrl, clock, env })
  me = await mcpTenant(app, upstream)
  person = (await app.person(me.email)).headers
  serverId = (await useAsking(me, await me.add(server.url))).id
  const other = await mcpTenant(app, upstream)
  const body = { name: 'a', tools_enabled: ['home__*'] }
  appId = (await me.api<{ id: string }>('POST', '/apps', body)).json().id
  const { key } = (await me.api<{ key: string }>('POST', `/apps/${appId}/keys`, {})).json()
  const ofOther = (await app.person(other.email)).headers
  strangers = [other.key.headers, ofOther, { authorization: `Bearer ${key}` }, {}]
})
beforeEach(() => server.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  server[Symbol.dispose]()
})

const SURFACES = {
  'an API turn': { path: '/v1/agent', by: (): Headers => me.key.headers },
  'a console turn': { path: '/console/agent', by: () => person },
  'a detached turn': { path: '/console/agent', by: () => person, detached: true },
} as const

const yes = { action: 'accept' }
const no = { action: 'decline' }
const edited = (value: unknown) => ({ action: 'accept', content: { arguments: value } })

interface Try {
  readonly answer: Answer
  readonly late: () => Promise<unknown>
}

/** What is answered, and with which texts the tool may be called then. */
const WAYS: Readonly<Record<string, (way: Try) => Promise<readonly string[]>>> = {
  async 'that nobody answers'({ answer, late }) {
    await late()
    expect(await answer(yes)).toBe(404)
    return []
  },
  async 'that is declined before it is accepted'({ answer }) {
    expect([await answer(no), await answer(yes), await answer(edited({}))]).toEqual([200, 410, 410])
    return []
  },
  async 'that is canceled before it is accepted'({ answer }) {
    expect([await answer({ action: 'cancel' }), await answer(yes)]).toEqual([200, 410])
    return []
  },
  async 'that is answered in a wrong form'({ answer }) {
    const wrong = [
      ...[{}, [], null, 'accept', { action: 'ACCEPT' }, { action: ['accept'] }, { accept: true }],
      ...[edited(null), edited({ text: 1 }), edited([]), { ...yes, remember: 'for ever' }],
    ]
    for (const body of wrong) expect([body, await answer(body)]).toEqual([body, 400])
    await answer(no)
    return []
  },
  async 'that strangers accept'({ answer }) {
    for (const by of strangers) expect([401, 403, 404]).toContain(await answer(yes, by))
    expect(await answer(yes, undefined, crypto.randomUUID())).toBe(404)
    await answer(no)
    return []
  },
  async 'that was edited, and accepted twice'({ answer }) {
    expect(await answer(edited({ text: 'edited' }))).toBe(200)
    expect(await answer(edited({ text: 'again' }))).toBe(410)
    return ['edited']
  },
  async 'that five windows accept at once'({ answer }) {
    const texts = ['a', 'b', 'c', 'd', 'e']
    const answers = await Promise.all(texts.map((text) => answer(edited({ text }))))
    expect([...answers].sort()).toEqual([200, 410, 410, 410, 410])
    return [texts[answers.indexOf(200)] ?? '']
  },
  async 'that one window accepts while another declines'({ answer }) {
    const [accepted, declined] = await Promise.all([answer(yes), answer(no)])
    expect([accepted, declined].sort()).toEqual([200, 410])
    return accepted === 200 ? ['hi'] : []
  },
}

const cases = Object.keys(SURFACES).flatMap((surface) =>
  Object.keys(WAYS).map((way) => [surface, way] as const),
)

describe('an ask', () => {
  test.each(cases)('of %s %s calls its tool as often as a person said yes', async (on, way) => {
    const { path, by, ...more } = SURFACES[on as keyof typeof SURFACES]
    const expected: string[] = []
    for (let n = 0; n < TRIES; n++) {
      upstream.reset()
      const stream = await askingTurn({ app, upstream }, by(), { path, ...more })
      const { data } = await untilEvent(stream, 'ask')
      const answer: Answer = async (body, as = by(), id = String(data.id)) => {
        const surface = caller(`${app.url}${'cookie' in as ? '/console' : '/v1'}`, as)
        return (await surface('POST', `/agent/asks/${id}`, body as object)).status
      }
      const late = () => {
        clock.advance(300_001)
        // A listing that was under way took too long then.
        return me.api('POST', `/mcp-servers/${serverId}/refresh`)
      }
      expected.push(...((await WAYS[way]?.({ answer, late })) ?? []))
      await stream.all()
    }
    const calls = server.received.flatMap(({ rpc }) =>
      rpc?.method === 'tools/call' ? [rpc.params?.arguments?.text] : [],
    )
    expect(calls).toEqual(expected)
    for (const text of ['hi', 'edited']) expect(app.log()).not.toContain(`"${text}"`)
  })

  test('of an app is answered by its own key, or by a general one', async () => {
    const { headers: own } = await app.key(me.email, { appId })
    const { headers: general } = await app.key(me.email)
    for (const by of [me.key.headers, general, own]) {
      upstream.reset()
      const stream = await askingTurn({ app, upstream }, own, {})
      const { data } = await untilEvent(stream, 'ask')
      const answers: number[] = []
      for (const one of [...strangers, person, by]) {
        const call = caller(`${app.url}${'cookie' in one ? '/console' : '/v1'}`, one)
        answers.push((await call('POST', `/agent/asks/${data.id}`, no)).status)
      }
      expect(answers).toEqual([404, 404, 404, 401, 404, 200])
      await stream.all()
    }
  })
})
