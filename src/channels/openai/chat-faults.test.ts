import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { collect, createChat, REQUEST } from '../../../test/support/chat.ts'
import {
  type ChatFault,
  type FaultOptions,
  refusedUrl,
  startUpstream,
  type Upstream,
} from '../../../test/support/upstream.ts'
import { createUpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.stop())
beforeEach(() => upstream.reset())

const chat = (options = {}) => createChat(upstream.baseUrl, options)
/** Short, so that waiting for silence takes no time; long enough for loopback. */
const IMPATIENT = { timeoutMs: 300 }
const PATIENT = { timeoutMs: 30_000 }
/** Faults that only a limit of time ends; the others are told at once. */
const isSilent = (phrase: string) => /timed out|silent/.test(phrase)

interface Row {
  readonly fault: ChatFault
  readonly options?: FaultOptions
  readonly reason: string
  readonly phrase: string
  readonly retryable?: boolean
  readonly text?: string
}

const ROWS: readonly Row[] = [
  { fault: 'reset', reason: 'retry_exhausted', phrase: 'connection failed', retryable: true },
  { fault: 'silent', reason: 'retry_exhausted', phrase: 'timed out', retryable: true },
  { fault: 'stall', reason: 'retry_exhausted', phrase: 'timed out', retryable: true },
  { fault: 408, reason: 'retry_exhausted', phrase: 'HTTP 408', retryable: true },
  { fault: 429, reason: 'retry_exhausted', phrase: 'HTTP 429', retryable: true },
  { fault: 500, reason: 'upstream_5xx', phrase: 'HTTP 500', retryable: true },
  { fault: 503, reason: 'upstream_5xx', phrase: 'HTTP 503', retryable: true },
  { fault: 529, reason: 'upstream_5xx', phrase: 'HTTP 529', retryable: true },
  { fault: 400, reason: 'upstream_4xx', phrase: 'HTTP 400' },
  { fault: 401, reason: 'upstream_4xx', phrase: 'HTTP 401' },
  { fault: 403, reason: 'upstream_4xx', phrase: 'HTTP 403' },
  { fault: 404, reason: 'upstream_4xx', phrase: 'HTTP 404' },
  { fault: 'redirect', reason: 'provider_error', phrase: 'HTTP 302' },
  { fault: 'html', reason: 'provider_error', phrase: 'stream ended early' },
  { fault: 'json', reason: 'provider_error', phrase: 'stream ended early' },
  { fault: 'empty', reason: 'provider_error', phrase: 'empty answer' },
  { fault: 'eof', reason: 'provider_error', phrase: 'stream ended early' },
  {
    fault: 'eof',
    options: { after: 2 },
    reason: 'provider_error',
    phrase: 'stream ended early',
    text: 'one two ',
  },
  {
    fault: 'cut',
    options: { after: 2 },
    reason: 'provider_error',
    phrase: 'connection broken',
    text: 'one two ',
  },
  {
    fault: 'hang',
    options: { after: 2 },
    reason: 'provider_error',
    phrase: 'stream went silent',
    text: 'one two ',
  },
  {
    fault: 'dribble',
    options: { after: 2 },
    reason: 'provider_error',
    phrase: 'stream went silent',
    text: 'one two ',
  },
  {
    fault: 'malformed',
    options: { after: 1 },
    reason: 'provider_error',
    phrase: 'malformed stream',
    text: 'one ',
  },
  {
    fault: 'error',
    options: { after: 1 },
    reason: 'provider_error',
    phrase: 'error in stream',
    text: 'one ',
  },
  {
    fault: 'huge',
    options: { after: 1 },
    reason: 'provider_error',
    phrase: 'event too large',
    text: 'one ',
  },
]

const at = (options?: FaultOptions) => (options ? ` after ${options.after} pieces` : '')

describe('a fault of the upstream', () => {
  for (const { fault, options, reason, phrase, retryable = false, text = '' } of ROWS) {
    test(`a model that fails by ${fault}${at(options)} is a ${reason}`, async () => {
      upstream.fault(fault, options)
      const result = await collect(chat(isSilent(phrase) ? IMPATIENT : PATIENT))
      expect(result.failure).toMatchObject({ reason, phrase, retryable, toolsRefused: false })
      expect(result.failure?.status).toBe(typeof fault === 'number' ? fault : statusOf(fault))
      expect(result.text).toBe(text)
      expect(result.finish).toBeUndefined()
      expect(Bun.inspect(result.error)).not.toContain('SECRET')
      expect(upstream.requests).toHaveLength(1)
    })
  }
  const statusOf = (fault: ChatFault) => (fault === 'redirect' ? 302 : null)

  test('a refused connection of the chat upstream may be retried', async () => {
    const { failure } = await collect(createChat(await refusedUrl()))
    expect(failure).toMatchObject({ reason: 'retry_exhausted', retryable: true })
    expect(failure?.phrase).toBe('connection failed')
  })

  test('a redirect of the chat upstream is not followed', async () => {
    const target = await startUpstream()
    upstream.fault('redirect', { location: `${target.baseUrl}/chat/completions` })
    await collect(chat())
    expect(target.requests).toHaveLength(0)
    await target.stop()
  })

  test('comments alone keep a slow chat answer alive', async () => {
    const payloads = Array.from({ length: 8 }, () => ': still thinking')
    upstream.reply({ pieces: ['late'], pauseMs: 60, prelude: payloads })
    expect((await collect(chat(IMPATIENT))).text).toBe('late')
  })
})

describe('what a refusal says', () => {
  const toolBodies = [
    '{"error":{"message":"fake does not support tools"}}',
    '{"error":{"message":"Invalid value: tool_choice"}}',
    '{"error":{"message":"function calling is not available"}}',
    '{"error":{"message":"该模型不支持工具调用"}}',
  ]
  for (const body of toolBodies) {
    test(`tools are refused: ${body}`, async () => {
      for (const status of [400, 422]) {
        upstream.fault(status, { body })
        expect((await collect(chat())).failure).toMatchObject({ status, toolsRefused: true })
      }
    })
  }

  test('other statuses than those of a refusal do not count as refused tools', async () => {
    upstream.fault(403, { body: 'no tools for you' })
    expect((await collect(chat())).failure?.toolsRefused).toBe(false)
  })

  test('only the start of an error body is searched for refused tools', async () => {
    for (const length of [9000, 5_000_000]) {
      upstream.fault(400, { body: `${' '.repeat(length)} tools` })
      expect((await collect(chat())).failure).toMatchObject({ status: 400, toolsRefused: false })
    }
  })

  test('Retry-After is read in seconds and as a date', async () => {
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 30_000).toUTCString()
    for (const [status, retryAfter, least, most] of [
      [429, '3', 3000, 3000],
      [503, '0', 0, 0],
      [429, date, 28_000, 31_000],
      [429, new Date(0).toUTCString(), 0, 0],
    ] as const) {
      upstream.fault(status, { retryAfter })
      const wait = (await collect(chat())).failure?.retryAfterMs
      expect(wait).toBeGreaterThanOrEqual(least)
      expect(wait).toBeLessThanOrEqual(most)
    }
  })

  for (const retryAfter of ['soon', '-1', '']) {
    test(`an odd Retry-After is ignored: "${retryAfter}"`, async () => {
      upstream.fault(429, { retryAfter })
      expect((await collect(chat())).failure?.retryAfterMs ?? 0).toBe(0)
    })
  }
})

describe('what cannot be sent', () => {
  for (const options of [
    { baseUrl: 'nonsense' },
    { baseUrl: 'file:///etc/passwd' },
    { apiKey: 'a\r\nx-injected: 1' },
    { apiKey: '密钥' },
  ]) {
    test(`a chat request that cannot be sent fails: ${JSON.stringify(options)}`, async () => {
      const { failure } = await collect(chat(options))
      expect(failure).toMatchObject({ reason: 'channel_unavailable', retryable: false })
      expect(upstream.requests).toHaveLength(0)
    })
  }

  test('a failure of a guarded fetch passes through the chat adapter', async () => {
    const refusal = new ChannelFailure('channel_unavailable', 'host refused')
    const { error } = await collect(
      chat({ fetch: createUpstreamFetch(() => Promise.reject(refusal)) }),
    )
    expect(error).toBe(refusal)
  })
})

describe('an abort reaches the upstream at once', () => {
  const reason = new Error('client left')

  for (const fault of ['silent', 'stall'] as const) {
    test(`an abort reaches an upstream that is waited for: ${fault}`, async () => {
      upstream.fault(fault)
      const controller = new AbortController()
      const result = collect(chat(), REQUEST, controller.signal)
      await upstream.nextRequest()
      controller.abort(reason)
      expect((await result).error).toBe(reason)
      await upstream.aborted()
    })
  }

  test('an abort reaches the upstream while the model list is waited for', async () => {
    upstream.models.fault('silent')
    const controller = new AbortController()
    const result = collect(chat({ defaultModel: null }), REQUEST, controller.signal)
    await upstream.nextRequest('/models')
    controller.abort(reason)
    expect((await result).error).toBe(reason)
    await upstream.aborted()
    expect(upstream.requests).toHaveLength(1)
  })

  test('an abort in the middle of a stream reaches the upstream', async () => {
    upstream.fault('hang', { after: 1 })
    const controller = new AbortController()
    const seen = (async () => {
      for await (const _ of await chat().open(REQUEST, controller.signal)) controller.abort(reason)
    })()
    expect(await seen.catch((error) => error)).toBe(reason)
    await upstream.aborted()
  })

  test('leaving the loop of parts ends the request', async () => {
    upstream.fault('hang', { after: 1 })
    for await (const _ of await chat().open(REQUEST, new AbortController().signal)) break
    await upstream.aborted()
  })

  test('a call that is aborted before its start sends nothing', async () => {
    const { error } = await collect(chat(), REQUEST, AbortSignal.abort(reason))
    expect(error).toBe(reason)
    expect(upstream.requests).toHaveLength(0)
  })

  test('a malformed stream is left at once', async () => {
    upstream.reply({ payloads: ['{"choices":', ...Array(5).fill('{}')], keepOpen: true })
    expect((await collect(chat())).failure?.reason).toBe('provider_error')
    await upstream.aborted()
  })

  test('a call leaves no listener on its signal', async () => {
    const { signal } = new AbortController()
    const added = spyOn(signal, 'addEventListener')
    const removed = spyOn(signal, 'removeEventListener')
    upstream.reply({ text: 'hi' })
    upstream.fault('cut', { after: 1 })
    for (let n = 0; n < 2; n++) await collect(chat(), REQUEST, signal)
    const listeners = added.mock.calls.map(([, listener]) => listener)
    expect(listeners).toHaveLength(2)
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(listeners)
  })
})
