import { expect, test } from 'bun:test'
import { SPEECHES_PER_TENANT_MAX } from '../../core/limits/machine.ts'
import type { Voice } from './service.ts'
import { createVoiceTurns } from './turns.ts'

const request = { text: 'hi', voice: 'v' }
const { signal } = new AbortController()
const failing = () => Promise.reject(new Error('not asked for'))

/** A voice whose streams have two pieces, and how many of them were begun. */
function streaming() {
  let begun = 0
  const voice: Voice = {
    speak: failing,
    transcribe: failing,
    async stream() {
      begun++
      return (async function* () {
        yield Uint8Array.of(1)
        yield Uint8Array.of(2)
      })()
    },
  }
  return { turns: createVoiceTurns(voice), begun: () => begun }
}
const drained = () => new Promise((resolve) => setImmediate(resolve))

test('a tenant has so many streams at a time, and others do not wait for them', async () => {
  const { turns, begun } = streaming()
  const open = await Promise.all(
    Array.from({ length: SPEECHES_PER_TENANT_MAX }, () => turns.stream('a', request, signal)),
  )
  const next = turns.stream('a', request, signal)
  await turns.stream('b', request, signal)
  expect(begun()).toBe(SPEECHES_PER_TENANT_MAX + 1)
  for await (const _ of open[0] ?? []);
  expect((await (await next).next()).value).toEqual(Uint8Array.of(1))
})

test('a client that leaves, or never reads, gives its place back with its signal', async () => {
  const { turns, begun } = streaming()
  const leaving = new AbortController()
  for (let i = 0; i < SPEECHES_PER_TENANT_MAX; i++) {
    await turns.stream('a', request, leaving.signal)
  }
  const next = turns.stream('a', request, signal)
  await drained()
  expect(begun()).toBe(SPEECHES_PER_TENANT_MAX)
  leaving.abort(new Error('client left'))
  await next
  expect(begun()).toBe(SPEECHES_PER_TENANT_MAX + 1)
})

test('what fails to begin fails the caller and keeps no place', async () => {
  const voice: Voice = { speak: failing, stream: failing, transcribe: failing }
  const turns = createVoiceTurns(voice)
  for (let i = 0; i <= SPEECHES_PER_TENANT_MAX; i++) {
    await expect(turns.stream('a', request, signal)).rejects.toThrow('not asked for')
    await expect(turns.speak('a', request, signal)).rejects.toThrow('not asked for')
    await expect(turns.transcribe('a', Uint8Array.of(1), signal)).rejects.toThrow('not asked for')
  }
})
