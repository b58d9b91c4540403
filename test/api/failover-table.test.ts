import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { ESTIMATED, turnStats } from '../support/conversation.ts'
import { BYO_KEY, BYO_MODEL, type Failover, startFailover } from '../support/failover.ts'
import { type ChatFault, type FaultOptions, refusedUrl } from '../support/upstream.ts'

/**
 * Every fault of a tenant's channel, with failover on and off, at each moment of a turn: what the
 * client sees is the announced re-run on the platform, or the error, and never a silent end.
 */
interface Row {
  readonly fault: ChatFault
  readonly options?: FaultOptions
  readonly reason: string
  /** Waits between the tries, in milliseconds. */
  readonly waits?: readonly number[]
}

const TWICE = [250, 1000]

/** Before a single token of the call. */
const AT_START: readonly Row[] = [
  { fault: 'reset', reason: 'retry_exhausted', waits: TWICE },
  { fault: 'silent', reason: 'retry_exhausted', waits: TWICE },
  { fault: 'stall', reason: 'retry_exhausted', waits: TWICE },
  { fault: 408, reason: 'retry_exhausted', waits: TWICE },
  { fault: 429, reason: 'retry_exhausted', waits: TWICE },
  { fault: 429, options: { retryAfter: '2' }, reason: 'retry_exhausted', waits: [2000, 2000] },
  { fault: 429, options: { retryAfter: '60' }, reason: 'retry_exhausted', waits: [5000, 5000] },
  { fault: 500, reason: 'upstream_5xx', waits: TWICE },
  { fault: 502, reason: 'upstream_5xx', waits: TWICE },
  { fault: 503, reason: 'upstream_5xx', waits: TWICE },
  { fault: 503, options: { retryAfter: '1' }, reason: 'upstream_5xx', waits: [1000, 1000] },
  { fault: 400, reason: 'upstream_4xx' },
  { fault: 401, reason: 'upstream_4xx' },
  { fault: 403, reason: 'upstream_4xx' },
  { fault: 404, reason: 'upstream_4xx' },
  { fault: 422, reason: 'upstream_4xx' },
  { fault: 'redirect', reason: 'provider_error' },
  { fault: 'html', reason: 'provider_error' },
  { fault: 'json', reason: 'provider_error' },
  { fault: 'eof', reason: 'provider_error' },
  { fault: 'empty', reason: 'provider_error' },
  { fault: 'malformed', reason: 'provider_error' },
  { fault: 'error', reason: 'provider_error' },
  { fault: 'huge', reason: 'provider_error' },
]

/** After two tokens; never tried again, for they are out. */
const MID_STREAM: readonly Row[] = (
  ['cut', 'eof', 'hang', 'malformed', 'error', 'huge'] as const
).map((fault) => ({ fault, options: { after: 2 }, reason: 'provider_error' }))

const CALL = { name: 'calculator', arguments: { expression: '6*7' } }

let world: Failover
beforeAll(async () => {
  // The wait for an upstream that is silent.
  world = await startFailover({ MB_LLM_TIMEOUT_MS: '300' })
})
afterEach(() => world.reset())
afterAll(() => world[Symbol.asyncDispose]())

interface Moment {
  readonly name: string
  readonly rows: readonly Row[]
  /** Scripts what goes well before the fault. */
  readonly before: () => void
  /** Events that the client has seen when the fault comes. */
  readonly seen: readonly Record<string, unknown>[]
}

const tokens = [
  { type: 'llm_delta', text: 'one ' },
  { type: 'llm_delta', text: 'two ' },
]
const toolRound = [
  { type: 'llm_delta', text: 'Let me see. ' },
  { type: 'tool_call', name: 'calculator' },
  { type: 'tool_result', name: 'calculator', ok: true },
]
const callTool = () => world.byo.reply({ pieces: ['Let me see. '], toolCalls: [CALL] })

/** Tokens of a turn on the platform after this: what the failed channel told, or an estimate. */
const tokensAfter = (seen: readonly Record<string, unknown>[]) => {
  if (seen.at(-1)?.type === 'llm_delta') return ESTIMATED
  return seen.length > 0 ? { input_tokens: 2 * 11, output_tokens: 2 * 7 } : {}
}

const MOMENTS: readonly Moment[] = [
  { name: 'before tokens', rows: AT_START, before: () => {}, seen: [] },
  { name: 'after tokens', rows: MID_STREAM, before: () => {}, seen: tokens },
  { name: 'in a tool round', rows: AT_START, before: callTool, seen: toolRound },
  {
    name: 'after tokens in a tool round',
    rows: MID_STREAM,
    before: callTool,
    seen: [...toolRound, ...tokens],
  },
]

const nameOf = ({ fault, options }: Row) =>
  options?.retryAfter ? `${fault} with Retry-After ${options.retryAfter}` : String(fault)

/** Increments that arrived together may leave together or one by one. */
const joined = (events: readonly Record<string, unknown>[]) => {
  const list: Record<string, unknown>[] = []
  for (const event of events) {
    const last = list.at(-1)
    if (event.type === 'llm_delta' && last?.type === 'llm_delta') {
      list[list.length - 1] = { ...last, text: `${last.text}${event.text}` }
    } else list.push(event)
  }
  return list
}

for (const { name, rows, before, seen } of MOMENTS) {
  for (const failover of [true, false]) {
    const moment = `${name}, failover ${failover ? 'on' : 'off'}`
    for (const row of rows) {
      test(`${moment}: a model that fails by ${nameOf(row)} is told as ${row.reason}`, async () => {
        const { fault, options, reason, waits = [] } = row
        const { byo, platform, clock, app } = world
        const tenant = await world.tenant({ failover })
        before()
        byo.chat.alwaysFault(fault, options)
        platform.reply({ pieces: ['from ', 'the platform'] })

        const events = await tenant.ask()
        const rerun = [
          { type: 'provider_fallback', from: 'byo', reason },
          { type: 'llm_delta', text: 'from the platform' },
          turnStats('platform_fallback', 1, tokensAfter(seen)),
          { type: 'llm_end', reply: 'from the platform', seq: expect.any(Number) },
        ]
        const error = [
          {
            type: 'error',
            message: expect.stringMatching(/\p{Script=Han}/u),
            code: expect.stringMatching(/^model_/),
          },
        ]
        const start = joined(seen)
        expect(joined(events)).toEqual([...start, ...(failover ? rerun : error)])

        // Only what counts is kept, and a turn that failed leaves no trace.
        const { messages } = await tenant.history()
        const kept = [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'from the platform' },
        ]
        expect(messages).toEqual(failover ? kept : [])
        expect(await tenant.sessions()).toHaveLength(failover ? 1 : 0)

        expect(clock.waits).toEqual([...waits])
        const tries = world.asked(byo)
        expect(tries).toHaveLength(
          (seen.some(({ type }) => type === 'tool_call') ? 2 : 1) + waits.length,
        )
        for (const { headers, body } of tries) {
          expect([headers.authorization, body.model]).toEqual([`Bearer ${BYO_KEY}`, BYO_MODEL])
        }
        const reruns = world.asked(platform)
        expect(reruns).toHaveLength(failover ? 1 : 0)
        for (const { headers, body } of reruns) {
          expect([headers.authorization, body.model]).toEqual([undefined, 'fake'])
          expect(body.messages.map(({ role }) => role)).toEqual(['system', 'user'])
        }
        expect(JSON.stringify(events) + app.log()).not.toContain('SECRET')
      })
    }
  }
}

describe('a channel that nobody answers for', () => {
  for (const failover of [true, false]) {
    test(`a refused connection is retried first, failover ${failover ? 'on' : 'off'}`, async () => {
      const tenant = await world.tenant({ failover, baseUrl: await refusedUrl() })
      const events = await tenant.ask()
      expect(world.clock.waits).toEqual(TWICE)
      expect(events[0]).toEqual(
        failover
          ? { type: 'provider_fallback', from: 'byo', reason: 'retry_exhausted' }
          : { type: 'error', message: expect.any(String), code: expect.any(String) },
      )
      expect(events.at(-1)?.type).toBe(failover ? 'llm_end' : 'error')
    })
  }
})

describe('what is no fault', () => {
  for (const [name, answer] of Object.entries({
    'another content type': { text: '好的', contentType: 'text/plain' },
    'bytes split anywhere': { text: '好的', splitBytes: 13 },
  })) {
    test(`an answer with ${name} is no fault`, async () => {
      const tenant = await world.tenant()
      world.byo.reply(answer)
      expect(joined(await tenant.ask())).toEqual([
        { type: 'llm_delta', text: '好的' },
        turnStats('byo'),
        { type: 'llm_end', reply: '好的', seq: expect.any(Number) },
      ])
      expect(world.asked(world.platform)).toEqual([])
    })
  }

  test('a fault that is over at the second try causes no fallback', async () => {
    const tenant = await world.tenant()
    world.byo.fault(503)
    const events = await tenant.ask()
    expect(events.map(({ type }) => type)).not.toContain('provider_fallback')
    expect(events.at(-2)).toEqual(turnStats('byo'))
  })
})
