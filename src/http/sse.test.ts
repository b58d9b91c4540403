import { afterEach, expect, test } from 'bun:test'
import { systemClock } from '../core/clock.ts'
import type { Principal } from '../core/principal.ts'
import { clientOf, createSse } from './sse.ts'

interface Event {
  readonly type: string
}
type Produce = (
  signal: AbortSignal,
  emit: (events: readonly Event[]) => Promise<void> | undefined,
) => Promise<void>

const FORMAT = {
  frame: ({ type }: Event) => `event: ${type}\ndata: {}\n\n`,
  isLast: ({ type }: Event) => type !== 'llm_delta',
  onStop: (): Event => ({ type: 'error' }),
}

let server: Bun.Server<undefined> | null = null
afterEach(() => server?.stop(true))

/** A server whose only answer is one stream; `text` is all that a client got of it. */
async function stream(produce: Produce) {
  const memory = { keep: () => () => {} }
  const sse = createSse({ clock: systemClock(), streamsMax: () => 10, memory, onError() {} })
  const request = new Request('http://localhost/')
  const client = { owner: 'tenant', request, disconnect() {} }
  const own = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => sse.respond(produce, FORMAT, { headers: {} }, client),
  })
  server = own
  const response = await fetch(own.url)
  return { sse, text: response.text() }
}

const DELTA: Event = { type: 'llm_delta' }
const END: Event = { type: 'llm_end' }
const typesOf = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type)

test('the headers of a stream leave before its first event', async () => {
  const ready = Promise.withResolvers<void>()
  // Resolves with the headers, while the producer still waits for `ready`.
  const { text } = await stream(async (_, emit) => {
    await ready.promise
    await emit([END])
  })
  ready.resolve()
  expect(await text).toBe(': ok\n\nevent: llm_end\ndata: {}\n\n')
})

test('a stream that the server ends gets an error event', async () => {
  const { sse, text } = await stream(async (signal, emit) => {
    await emit([DELTA])
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  sse.close()
  expect(typesOf(await text)).toEqual(['llm_delta', 'error'])
})

test('a stream that is about to end when the server stops ends without error', async () => {
  const stored = Promise.withResolvers<void>()
  const { sse, text } = await stream(async (_, emit) => {
    await emit([DELTA])
    await stored.promise
    await emit([END])
  })
  sse.close()
  stored.resolve()
  expect(typesOf(await text)).toEqual(['llm_delta', 'llm_end'])
})

test('a tenant has one share of the streams, however many keys and people it has', () => {
  const none = { appId: null, deviceId: null }
  const principals: Principal[] = [
    { kind: 'general', tenantId: 't', keyId: 'one', userId: null, ...none },
    { kind: 'general', tenantId: 't', keyId: 'two', userId: null, ...none },
    { kind: 'session', tenantId: 't', keyId: null, userId: 'u', ...none },
  ]
  const request = new Request('http://localhost/')
  const owners = principals.map((principal) => clientOf(principal, request, null).owner)
  expect(new Set(owners)).toEqual(new Set(['t']))
})

/** Streams with a limit of five, whose clients leave by `left`. */
function limited() {
  const kept = new Set<number>()
  let bodies = 0
  const keep = () => {
    const body = ++bodies
    kept.add(body)
    return () => void kept.delete(body)
  }
  const clock = systemClock()
  const sse = createSse({ clock, streamsMax: () => 5, memory: { keep }, onError() {} })
  function open(signal: AbortSignal | null = null): Response | null {
    const request = new Request('http://localhost/', { signal })
    const client = { owner: 'tenant', request, disconnect() {} }
    try {
      return sse.respond<Event>(
        async (_, emit) => void emit([END]),
        FORMAT,
        { headers: {} },
        client,
      )
    } catch {
      return null
    }
  }
  return { open, kept: () => kept.size, close: sse.close }
}

test('of fifty streams that are asked for at once, as many begin as the limit allows', async () => {
  const { open, kept, close } = limited()
  const answers = Array.from({ length: 50 }, () => open()).filter((answer) => answer !== null)
  expect([answers.length, kept()]).toEqual([5, 5])
  for (const answer of answers) expect(typesOf(await answer.text())).toEqual(['llm_end'])
  expect(kept()).toBe(0)
  expect(open()).not.toBeNull()
  close()
})

test('a client that leaves before its stream is read gives its place back, once', async () => {
  const { open, kept, close } = limited()
  for (let round = 0; round < 3; round++) {
    const leaving = new AbortController()
    const answers = Array.from({ length: 5 }, () => open(leaving.signal))
    expect([answers.includes(null), open()]).toEqual([false, null])
    leaving.abort()
    for (const answer of answers) await answer?.body?.cancel()
    expect(open(leaving.signal)).not.toBeNull()
    await new Promise(setImmediate)
    expect(kept()).toBe(0)
  }
  close()
})

test('a stream that is cancelled before it is read gives its place back', async () => {
  const { open, kept, close } = limited()
  const answers = Array.from({ length: 5 }, () => open())
  for (const answer of answers) await answer?.body?.cancel()
  expect(kept()).toBe(0)
  expect(open()).not.toBeNull()
  close()
})
