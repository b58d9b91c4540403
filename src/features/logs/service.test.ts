import { expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { parseLogQuery } from './query.ts'
import { createLogs } from './service.ts'
import type { LogStore } from './store.ts'

const query = parseLogQuery(new URLSearchParams())

/** Logs over a store whose slices end when they are let; `reading` has who reads one now. */
function logging() {
  const reading: string[] = []
  const waiting: (() => void)[] = []
  const store: LogStore = {
    async write() {},
    async prune() {
      return 0
    },
    async rows() {
      return []
    },
    async latencies() {
      return []
    },
    async sliceStart(tenantId, _, until) {
      reading.push(tenantId)
      await new Promise<void>((resolve) => waiting.push(resolve))
      reading.splice(reading.indexOf(tenantId), 1)
      return until > 2 ? 2 : null
    },
  }
  const buffer = { add() {}, async flush() {} }
  const logs = createLogs({ store, clock: systemClock(), buffer })
  const turn = async () => {
    for (const end of waiting.splice(0)) end()
    await Bun.sleep(0)
  }
  return { logs, reading, turn }
}

test('log summaries wait for those of the same tenant only', async () => {
  const { logs, reading, turn } = logging()
  const mine = ['a', 'a', 'a', 'b'].map((tenant) => logs.list(tenant, query))
  await Bun.sleep(0)
  expect(reading).toEqual(['a', 'b'])
  await turn()
  await turn()
  expect(reading).toEqual(['a'])
  for (let n = 0; n < 4; n++) await turn()
  expect(await Promise.all(mine)).toHaveLength(4)
})

test('a log summary that nobody waits for is not read to its end', async () => {
  const { logs, reading, turn } = logging()
  const leaving = new AbortController()
  const left = logs.list('a', query, leaving.signal).catch((error: Error) => error.name)
  const next = logs.list('a', query)
  await Bun.sleep(0)
  leaving.abort()
  await turn()
  expect(await left).toBe('AbortError')
  expect(reading).toEqual(['a'])
  await turn()
  await turn()
  expect((await next).logs).toEqual([])
})
