import { describe, expect, test } from 'bun:test'
import { type Clock, systemClock } from '../../core/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Llm, LlmPart, LlmRequest } from '../ports/llm.ts'
import { retryLlm } from './retry.ts'

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
const busy = (retryAfterMs?: number) =>
  new ChannelFailure('retry_exhausted', 'HTTP 429', {
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })

/** A model that takes one script a call: an error to throw, or parts to give and then an error. */
function scripted(scripts: readonly (Error | { parts: readonly LlmPart[]; thrown?: Error })[]) {
  let calls = 0
  const llm: Llm = {
    name: 'scripted',
    async open() {
      const script = scripts[calls++]
      if (!script || script instanceof Error) throw script ?? new Error('no script left')
      return (async function* () {
        yield script.parts
        if (script.thrown) throw script.thrown
        yield script.parts
      })()
    },
  }
  return { llm, calls: () => calls }
}

/** A clock whose waits are over at once and written down. */
function instantClock(): { clock: Clock; waits: number[] } {
  const waits: number[] = []
  const sleep: Clock['sleep'] = async (ms) => {
    waits.push(ms)
  }
  return { clock: { ...systemClock(), sleep }, waits }
}

async function drain(llm: Llm, signal = new AbortController().signal) {
  const items: (readonly LlmPart[])[] = []
  try {
    for await (const parts of await llm.open(REQUEST, signal)) items.push(parts)
    return { items, error: null }
  } catch (error) {
    return { items, error }
  }
}

describe('a model call that is retried', () => {
  test('a good model call is passed through without a retry', async () => {
    const { llm, calls } = scripted([{ parts: HELLO }])
    const { clock, waits } = instantClock()
    const wrapped = retryLlm(llm, clock)
    expect(wrapped.name).toBe('scripted')
    expect(await drain(wrapped)).toEqual({ items: [HELLO, HELLO], error: null })
    expect([calls(), waits]).toEqual([1, []])
  })

  test('a model call is retried after 250 ms and 1 s, then gives the last failure', async () => {
    const last = new ChannelFailure('upstream_5xx', 'HTTP 503', { retryable: true })
    const { llm, calls } = scripted([busy(), busy(), last])
    const { clock, waits } = instantClock()
    expect((await drain(retryLlm(llm, clock))).error).toBe(last)
    expect([calls(), waits]).toEqual([3, [250, 1000]])
  })

  test('a model call succeeds on the second try', async () => {
    const { llm } = scripted([busy(), { parts: HELLO }])
    const result = await drain(retryLlm(llm, instantClock().clock))
    expect(result).toEqual({ items: [HELLO, HELLO], error: null })
  })

  for (const [retryAfterMs, expected] of [
    [100, 250],
    [3000, 3000],
    [60_000, 5000],
  ] as const) {
    test(`a model call waits ${expected} ms for a Retry-After of ${retryAfterMs} ms`, async () => {
      const { llm } = scripted([busy(retryAfterMs), { parts: HELLO }])
      const { clock, waits } = instantClock()
      await drain(retryLlm(llm, clock))
      expect(waits).toEqual([expected])
    })
  }

  const hopeless = [
    new ChannelFailure('upstream_4xx', 'HTTP 401', { status: 401 }),
    new ChannelFailure('provider_error', 'empty answer'),
    new Error('a fault of our own'),
  ]
  for (const error of hopeless) {
    test(`a model call is not retried after: ${error.message}`, async () => {
      const { llm, calls } = scripted([error])
      const result = await drain(retryLlm(llm, instantClock().clock))
      expect([result.error, calls()]).toEqual([error, 1])
    })
  }

  test('a model call is not retried once a part has been sent', async () => {
    const { llm, calls } = scripted([{ parts: HELLO, thrown: busy() }, { parts: HELLO }])
    const result = await drain(retryLlm(llm, instantClock().clock))
    expect(result.items).toEqual([HELLO])
    expect(result.error).toBeInstanceOf(ChannelFailure)
    expect(calls()).toBe(1)
  })

  test('an abort ends the wait before a retry with the reason of the signal', async () => {
    const { llm, calls } = scripted([busy(), { parts: HELLO }])
    const controller = new AbortController()
    const reason = new Error('client left')
    const system = systemClock()
    const sleep = (ms: number, signal?: AbortSignal) => {
      controller.abort(reason)
      return system.sleep(ms, signal)
    }
    const wrapped = retryLlm(llm, { ...system, sleep })
    expect((await drain(wrapped, controller.signal)).error).toBe(reason)
    expect(calls()).toBe(1)
  })
})
