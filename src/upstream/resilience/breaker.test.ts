import { beforeEach, describe, expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { ChannelFailure, type FailureReason } from '../ports/failure.ts'
import type { Llm, LlmPart, LlmRequest } from '../ports/llm.ts'
import {
  BREAKER_FAILURES,
  BREAKER_OPEN_MS,
  BREAKER_WINDOW_MS,
  type Breaker,
  breaker,
} from './breaker.ts'

const REQUEST: LlmRequest = {
  purpose: 'turn',
  model: null,
  messages: [],
  passages: [],
  tools: [],
  thinking: false,
  temperature: null,
}
const HELLO: readonly LlmPart[] = [{ type: 'text', text: 'hello' }]
const failure = (reason: FailureReason = 'upstream_5xx', phrase = 'HTTP 503') =>
  new ChannelFailure(reason, phrase)

const clock = fakeClock()
let outcome: Error | 'well' | 'hang'
let at: 'open' | 'stream'
let calls: number
let opened: string[]
let llm: Breaker

beforeEach(() => {
  outcome = failure()
  at = 'stream'
  calls = 0
  opened = []
  const inner: Llm = {
    name: 'scripted',
    async open(_, signal) {
      calls++
      const end = outcome
      if (end instanceof Error && at === 'open') throw end
      return (async function* () {
        yield HELLO
        if (end === 'hang') {
          signal.throwIfAborted()
          await new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          )
        }
        if (end instanceof Error) throw end
        yield HELLO
      })()
    },
  }
  llm = breaker(inner, { clock, onOpen: ({ phrase }) => opened.push(phrase) })
})

async function use(signal = new AbortController().signal): Promise<unknown> {
  try {
    for await (const _ of await llm.open(REQUEST, signal));
    return null
  } catch (error) {
    return error
  }
}
async function useTimes(count: number) {
  for (let n = 0; n < count; n++) await use()
}

describe('a channel that keeps failing', () => {
  test.each(['open', 'stream'] as const)(
    'the breaker skips a channel after failures in its %s',
    async (place) => {
      at = place
      await useTimes(BREAKER_FAILURES)
      expect(opened).toEqual(['HTTP 503'])
      const skipped = await use()
      expect(skipped).toMatchObject({ reason: 'upstream_5xx', phrase: 'skipped after HTTP 503' })
      expect(calls).toBe(BREAKER_FAILURES)
    },
  )

  test.each([-3_600_000, 3_600_000])(
    'the breaker skips a channel as long when the clock is set by %d ms',
    async (byMs) => {
      await useTimes(BREAKER_FAILURES)
      clock.set(byMs)
      await use()
      expect(calls).toBe(BREAKER_FAILURES)
      clock.advance(BREAKER_OPEN_MS)
      await use()
      expect(calls).toBe(BREAKER_FAILURES + 1)
    },
  )

  test('the breaker lets one trial call through, and closes when it succeeds', async () => {
    await useTimes(BREAKER_FAILURES)
    clock.advance(BREAKER_OPEN_MS)
    outcome = 'well'
    const opened = await llm.open(REQUEST, new AbortController().signal)
    const trial = opened[Symbol.asyncIterator]()
    await trial.next()
    expect(await use()).toMatchObject({ reason: 'upstream_5xx' })
    while (!(await trial.next()).done);
    expect(await use()).toBeNull()
    expect(calls).toBe(BREAKER_FAILURES + 2)
  })

  test('the breaker stays open when the trial fails, whatever the failure', async () => {
    await useTimes(BREAKER_FAILURES)
    clock.advance(BREAKER_OPEN_MS)
    outcome = failure('retry_exhausted', 'timed out')
    await use()
    expect(await use()).toMatchObject({ reason: 'retry_exhausted' })
    expect(opened).toEqual(['HTTP 503', 'timed out'])
  })

  for (const leave of ['abort', 'return'] as const) {
    test(`the breaker tries the next call when the trial is left by ${leave}`, async () => {
      await useTimes(BREAKER_FAILURES)
      clock.advance(BREAKER_OPEN_MS)
      outcome = 'hang'
      const client = new AbortController()
      const opened = await llm.open(REQUEST, client.signal)
      const trial = opened[Symbol.asyncIterator]()
      await trial.next()
      if (leave === 'return') await trial.return?.()
      const rest = leave === 'abort' ? trial.next() : null
      client.abort()
      await rest?.catch(() => {})
      outcome = 'well'
      expect(await use()).toBeNull()
    })
  }

  test('the breaker closes when the channel was seen working elsewhere', async () => {
    await useTimes(BREAKER_FAILURES)
    llm.reset()
    outcome = 'well'
    expect(await use()).toBeNull()
  })

  test('concurrent failures count, and open the breaker once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => use()))
    expect([opened, calls]).toEqual([['HTTP 503'], 20])
    expect(await use()).toMatchObject({ phrase: 'skipped after HTTP 503' })
  })
})

describe('what does not open it', () => {
  const almost = async () => {
    await useTimes(BREAKER_FAILURES - 1)
    expect(opened).toEqual([])
  }

  for (const [name, between] of [
    ['a success', 'well'],
    ['a refusal', failure('upstream_4xx', 'HTTP 400')],
    ['a failure of another kind', failure('provider_error', 'stream ended early')],
  ] as const) {
    test(`${name} between failures keeps the breaker closed`, async () => {
      await almost()
      outcome = between
      await use()
      outcome = failure()
      await almost()
    })
  }

  test('failures spread over more than the window keep the breaker closed', async () => {
    await almost()
    clock.advance(BREAKER_WINDOW_MS)
    await use()
    expect(opened).toEqual([])
  })

  test('clients that leave and errors of our own keep the breaker closed', async () => {
    outcome = new TypeError('bug')
    await useTimes(BREAKER_FAILURES)
    outcome = 'hang'
    for (let n = 0; n < BREAKER_FAILURES; n++) {
      const client = new AbortController()
      const ended = use(client.signal)
      client.abort()
      await ended
    }
    expect(opened).toEqual([])
  })
})
