import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { BREAKER_FAILURES, BREAKER_OPEN_MS } from '../../src/upstream/resilience/breaker.ts'
import { type Failover, startFailover } from '../support/failover.ts'

let world: Failover
let tenant: Awaited<ReturnType<Failover['tenant']>>
beforeAll(async () => {
  world = await startFailover()
})
beforeEach(async () => {
  tenant = await world.tenant()
  world.byo.chat.alwaysFault(503)
})
afterEach(() => world.reset())
afterAll(() => world[Symbol.asyncDispose]())

/** The call and its two retries. */
const TRIES_OF_A_TURN = 3
const tries = () => world.asked(world.byo).length
const channelOf = (events: readonly Record<string, unknown>[]) =>
  events.find(({ type }) => type === 'stats')?.channel

async function failUntilSkipped() {
  for (let n = 0; n < BREAKER_FAILURES; n++) await tenant.ask()
  expect(tries()).toBe(BREAKER_FAILURES * TRIES_OF_A_TURN)
}

describe('a channel that keeps failing', () => {
  test('a channel that keeps failing is skipped with an event, and tried later', async () => {
    await failUntilSkipped()
    const skipped = await tenant.ask()
    expect(skipped[0]).toEqual({ type: 'provider_fallback', from: 'byo', reason: 'upstream_5xx' })
    expect(channelOf(skipped)).toBe('platform_fallback')
    expect(tries()).toBe(BREAKER_FAILURES * TRIES_OF_A_TURN)

    world.clock.advance(BREAKER_OPEN_MS)
    world.byo.chat.always({ text: 'back' })
    expect(channelOf(await tenant.ask())).toBe('byo')
    expect(channelOf(await tenant.ask())).toBe('byo')
  })

  test('a skipped channel is reported to the operator without address or key', async () => {
    await failUntilSkipped()
    const line = world.app
      .log()
      .split('\n')
      .filter((entry) => entry.includes('channel skipped'))
      .at(-1)
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      tenant: tenant.tenantId,
      reason: 'upstream_5xx',
      cause: 'HTTP 503',
    })
  })

  test('a channel that keeps failing is skipped for its own tenant only', async () => {
    await failUntilSkipped()
    const other = await world.tenant()
    world.byo.chat.always({ text: 'fine' })
    expect(channelOf(await other.ask())).toBe('byo')
    expect(channelOf(await tenant.ask())).toBe('platform_fallback')
  })

  for (const [name, act] of [
    ['its configuration is saved again', () => tenant.put()],
    [
      'a test of it went well',
      () => fetch(`${world.app.url}/v1/provider/test`, { method: 'POST', headers: tenant.headers }),
    ],
  ] as const) {
    test(`a skipped channel is used again once ${name}`, async () => {
      await failUntilSkipped()
      world.byo.chat.always({ text: 'back' })
      await act()
      expect(channelOf(await tenant.ask())).toBe('byo')
    })
  }

  test('a failing channel is asked by every turn when failover is off', async () => {
    await tenant.put({ failover: false })
    for (let n = 0; n < BREAKER_FAILURES + 1; n++) {
      expect((await tenant.ask()).map(({ type }) => type)).toEqual(['error'])
    }
    expect(tries()).toBe((BREAKER_FAILURES + 1) * 3)
    world.byo.chat.always({ text: 'back' })
    expect(channelOf(await tenant.ask())).toBe('byo')
  })
})
