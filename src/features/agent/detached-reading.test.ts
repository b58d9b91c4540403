import { expect, test } from 'bun:test'
import { createReading } from './detached-reading.ts'
import { fromMemory } from './detached-runs.ts'
import type { DetachedRow } from './detached-store.ts'
import { PIECE_CHARS, type Told, ToldEvents } from './told.ts'

const ROW: DetachedRow = {
  id: 'turn-1',
  session_id: 'session-1',
  server: 'another',
  state: 'ended',
  stored: 1,
  user_text: 'hi',
  files: '[]',
  images: '[]',
  started_at: '2026-01-01T00:00:00.000Z',
  state_at: 1,
}

const batch = (first: number, ...types: string[]) => ({
  first_id: first,
  events: JSON.stringify(types.map((type) => ({ type }))),
})

const atOnce = (_: number, task: () => void) => {
  task()
  return () => {}
}

const reader = { kind: 'user', tenantId: 'tenant-1', userId: 'user-1' } as never

test('the last events of a turn are told that are stored just after its end was seen', async () => {
  const stored = [batch(1, 'llm_delta'), batch(2, 'stats', 'llm_end')]
  let reads = 0
  const reading = createReading({
    store: {
      find: async () => ROW,
      events: async (_, after) => {
        const there = reads++ < 2 ? stored.slice(0, 1) : stored
        return there.filter(({ first_id }, at) => first_id > after || at === there.length - 1)
      },
    },
    clock: { now: () => 2, sleep: async () => {}, after: atOnce },
    server: 'this',
    settle: async () => {},
    inTurnOf: () => (work) => work(),
  })
  const told: Told[] = []
  await reading.fromDisk(
    reader,
    'turn-1',
    0,
  )(new AbortController().signal, async (events) => {
    told.push(...events)
  })
  expect(told.map(({ id, type }) => `${id} ${type}`)).toEqual([
    '1 llm_delta',
    '2 stats',
    '3 llm_end',
  ])
})

test('a reader gets a long answer in pieces, and lets others pass between them', async () => {
  const events = Array.from({ length: 5_000 }, () => ({
    type: 'llm_delta' as const,
    text: 'x'.repeat(100),
  }))
  const running = new ToldEvents()
  running.add(events)
  running.close()
  const sizes: number[] = []
  let turns = 0
  const inTurn = async (work: () => Promise<void>) => {
    turns++
    await work()
  }
  const read = fromMemory(running, 0, inTurn)
  await read(new AbortController().signal, async (some) => {
    sizes.push(some.reduce((chars, { data }) => chars + data.length, 0))
  })
  expect(Math.max(...sizes)).toBeLessThan(PIECE_CHARS + 1_000)
  expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(500_000)
  expect(turns).toBe(sizes.length - 1)
})

test('one look at a turn of another server serves all its readers here', async () => {
  let finds = 0
  const leaving = new AbortController()
  const reading = createReading({
    store: {
      find: async () => {
        finds++
        return { ...ROW, state: 'running' }
      },
      events: async () => [batch(1, 'turn', 'llm_delta')],
    },
    clock: {
      now: () => 2,
      sleep: (_, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) resolve()
          signal?.addEventListener('abort', () => resolve())
        }),
      after: () => () => {},
    },
    server: 'this',
    settle: async () => {},
    inTurnOf: () => (work) => work(),
  })
  const got = Array.from({ length: 50 }, () => Promise.withResolvers<number>())
  const over = got.map(({ resolve }) =>
    reading.fromDisk(reader, 'turn-1', 0)(leaving.signal, async (events) => resolve(events.length)),
  )
  expect(await Promise.all(got.map(({ promise }) => promise))).toEqual(got.map(() => 2))
  // A running turn is read once more when it was seen what has become of its server.
  expect(finds).toBe(2)
  leaving.abort()
  await Promise.all(over)
})
