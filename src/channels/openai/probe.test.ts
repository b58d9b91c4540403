import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { handClock } from '../../../test/support/clock.ts'
import { refusedUrl, startUpstream, type Upstream } from '../../../test/support/upstream.ts'
import { systemClock } from '../../core/clock.ts'
import { createUpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { type ProbeOptions, probe } from './probe.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.stop())
beforeEach(() => upstream.reset())

const check = (options: Partial<ProbeOptions> = {}, signal = new AbortController().signal) =>
  probe(
    {
      fetch: createUpstreamFetch(fetch),
      clock: systemClock(),
      baseUrl: upstream.baseUrl,
      apiKey: 'sk-mine',
      model: 'm',
      timeoutMs: 5000,
      ...options,
    },
    signal,
  )

test('the model probe asks for one token, once', async () => {
  const result = await check()
  expect(result.ok).toBe(true)
  expect(Number.isSafeInteger(result.latency_ms)).toBe(true)
  expect(Object.keys(result)).toEqual(['ok', 'latency_ms'])
  expect(upstream.requests.map(({ path }) => path)).toEqual(['/chat/completions'])
  const { body, headers } = await upstream.nextRequest()
  expect(body).toMatchObject({ model: 'm', max_tokens: 1 })
  expect(body.stream).toBeUndefined()
  expect(headers.authorization).toBe('Bearer sk-mine')
})

test('the model probe names the first chat model when none is given', async () => {
  await check({ model: null })
  expect(upstream.requests.at(-1)?.body.model).toBe('fake')
  upstream.models.fault(404)
  await check({ model: null })
  expect(upstream.requests.at(-1)?.body).not.toHaveProperty('model')
})

const FAULTS = [
  [401, 'HTTP 401'],
  [404, 'HTTP 404'],
  [429, 'HTTP 429'],
  [500, 'HTTP 500'],
  ['redirect', 'HTTP 302'],
  ['reset', 'connection failed'],
  ['silent', 'timed out'],
] as const
for (const [fault, error] of FAULTS) {
  test(`the model probe reports ${fault} as ${error}, without a retry`, async () => {
    upstream.fault(fault)
    const result = await check(fault === 'silent' ? { timeoutMs: 100 } : {})
    expect(result).toEqual({ ok: false, latency_ms: expect.any(Number), error })
    expect(upstream.requests).toHaveLength(1)
  })
}

test('the model list counts toward the time limit of the model probe', async () => {
  const { clock, pass } = handClock()
  const slowFetch = createUpstreamFetch(async (url, init) => {
    pass(60)
    init.signal?.throwIfAborted()
    return fetch(url, init)
  })
  const result = await check({ model: null, timeoutMs: 100, clock, fetch: slowFetch })
  expect(result).toEqual({ ok: false, latency_ms: 120, error: 'timed out' })
})

test('the model probe reports a refused connection, a bad URL and a bad key', async () => {
  const error = async (options: Partial<ProbeOptions>) => {
    const result = await check(options)
    return result.ok ? null : result.error
  }
  expect(await error({ baseUrl: await refusedUrl() })).toBe('connection failed')
  expect(await error({ baseUrl: 'nonsense' })).toBe('invalid base URL')
  expect(await error({ apiKey: '钥' })).toBe('invalid key')
})

test('the model probe retries without max_tokens when an upstream refuses it', async () => {
  upstream.fault(400, { body: "Unsupported 'max_tokens'. Use 'max_completion_tokens' instead." })
  expect((await check()).ok).toBe(true)
  expect(upstream.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 1 })
})

test('an abort of the model probe reaches the upstream and is thrown', async () => {
  upstream.fault('silent')
  const controller = new AbortController()
  const reason = new Error('client left')
  const result = check({}, controller.signal).catch((error) => error)
  await upstream.nextRequest()
  controller.abort(reason)
  expect(await result).toBe(reason)
  await upstream.aborted()
})
