import { describe, expect, test } from 'bun:test'
import { handClock } from '../../../test/support/clock.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { httpFailure } from './http-failure.ts'
import { UpstreamCall } from './upstream-call.ts'

function open(timeoutMs = 100) {
  const hand = handClock()
  const caller = new AbortController()
  return { ...hand, caller, call: new UpstreamCall(hand.clock, timeoutMs, caller.signal) }
}

describe('an upstream call', () => {
  test('an upstream is silent when nothing arrives for the limit', () => {
    const { call, pass } = open()
    pass(99)
    expect(call.signal.aborted).toBe(false)
    pass(1)
    expect(call.signal.aborted).toBe(true)
    expect(call.explain(new Error('x'))).toMatchObject({ phrase: 'timed out', retryable: true })
  })

  test('an upstream call has one timer for any number of reads', () => {
    const { call, pass, armed } = open()
    for (let n = 0; n < 50; n++) {
      call.startWait()
      pass(60)
      call.gotBytes()
      expect(armed()).toBe(1)
    }
    expect(call.signal.aborted).toBe(false)
    call.startWait()
    pass(100)
    expect(call.signal.aborted).toBe(true)
    expect(call.explain(new Error('x'))).toMatchObject({
      reason: 'provider_error',
      phrase: 'stream went silent',
      retryable: false,
    })
  })

  test.each([-3_600_000, 3_600_000])(
    'the silence limit is the same when the clock is set by %d ms',
    (byMs) => {
      const { call, pass, set } = open()
      pass(50)
      call.gotBytes()
      call.startWait()
      set(byMs)
      pass(99)
      expect(call.signal.aborted).toBe(false)
      pass(1)
      expect(call.signal.aborted).toBe(true)
    },
  )

  test('a slow consumer is not mistaken for a silent upstream', () => {
    const { call, pass } = open()
    call.gotBytes()
    pass(10_000)
    expect(call.signal.aborted).toBe(false)
    call.startWait()
    pass(99)
    expect(call.signal.aborted).toBe(false)
  })

  test('an upstream is silent when it sends only bytes of an unfinished line', () => {
    const { call, pass } = open()
    call.gotBytes()
    for (let n = 0; n < 3; n++) {
      call.startWait()
      pass(30)
      call.gotFragment()
    }
    call.startWait()
    pass(9)
    expect(call.signal.aborted).toBe(false)
    pass(1)
    expect(call.explain(new Error('x'))).toMatchObject({ phrase: 'stream went silent' })
  })

  test('an upstream call waits the full limit for each request that it sends', () => {
    const { call, pass } = open()
    pass(60)
    call.restartWait()
    pass(99)
    expect(call.signal.aborted).toBe(false)
    pass(1)
    expect(call.signal.aborted).toBe(true)
  })

  test('an upstream call shortens its limit and never lengthens it', () => {
    const { call, pass, armed } = open(1000)
    call.shortenTimeout(50)
    call.shortenTimeout(500)
    expect(armed()).toBe(1)
    pass(50)
    expect(call.signal.aborted).toBe(true)
  })

  test('an upstream call passes an abort on with its reason', () => {
    const { call, caller } = open()
    const reason = new Error('client left')
    caller.abort(reason)
    expect(call.signal.reason).toBe(reason)
    expect(call.explain(new Error('x'))).toBe(reason)
    expect(() => call.throwIfAborted()).toThrow(reason)
  })

  test('an upstream call passes a failure on unchanged', () => {
    const failure = new ChannelFailure('channel_unavailable', 'host refused')
    expect(open().call.explain(failure)).toBe(failure)
  })

  for (const complete of [true, false]) {
    test(`a call releases its timer when closed ${complete ? 'after' : 'before'} the end`, () => {
      const { call, caller, armed } = open()
      call.close(complete)
      expect(armed()).toBe(0)
      expect(call.signal.aborted).toBe(!complete)
      caller.abort()
      expect(call.signal.aborted).toBe(!complete)
    })
  }

  test('an upstream call does not begin for a caller that has left', () => {
    const { clock, armed } = handClock()
    const reason = new Error('client left')
    expect(() => new UpstreamCall(clock, 100, AbortSignal.abort(reason))).toThrow(reason)
    expect(armed()).toBe(0)
  })
})

test("a prompt that is longer than the model's context is reported as such", async () => {
  const error = { type: 'exceed_context_size_error', message: 'request (4100 tokens) SECRET' }
  const { failure } = await httpFailure(Response.json({ error }, { status: 400 }), 0)
  expect(failure).toMatchObject({
    reason: 'upstream_4xx',
    phrase: 'HTTP 400, the prompt is longer than the context',
  })
})
