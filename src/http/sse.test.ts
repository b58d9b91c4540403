import { afterEach, expect, test } from 'bun:test'
import { systemClock } from '../core/clock.ts'
import type { Principal } from '../core/principal.ts'
import { createBodyRoom } from './body-room.ts'
import { createSse, listenerOf, type StreamEvent } from './sse.ts'

type Start = Parameters<ReturnType<typeof createSse>['respond']>[0]

let server: Bun.Server<undefined> | null = null
afterEach(() => server?.stop(true))

/** A server whose only answer is one stream; `text` is all that a client got of it. */
async function stream(start: Start) {
  const room = createBodyRoom(0)
  const sse = createSse({ clock: systemClock(), streamsMax: 10, room, onError() {} })
  const listener = { owner: 'tenant', request: new Request('http://localhost/'), drop() {} }
  const own = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => sse.respond(start, { headers: {} }, listener),
  })
  server = own
  const response = await fetch(own.url)
  return { sse, text: response.text() }
}

const DELTA: StreamEvent = { type: 'llm_delta' }
const END: StreamEvent = { type: 'llm_end' }
const typesOf = (text: string) => [...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type)

test('a stream that the server calls off ends with an error', async () => {
  const { sse, text } = await stream(async (signal, tell) => {
    await tell([DELTA])
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  })
  sse.close()
  expect(typesOf(await text)).toEqual(['llm_delta', 'error'])
})

test('a stream whose end is under way when the server stops gets it, and no error', async () => {
  const stored = Promise.withResolvers<void>()
  const { sse, text } = await stream(async (_, tell) => {
    await tell([DELTA])
    await stored.promise
    await tell([END])
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
  const owners = principals.map((principal) => listenerOf(principal, request, null).owner)
  expect(new Set(owners)).toEqual(new Set(['t']))
})
