import { expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { runsOf, scheduled, startRuns, type TestRuns } from '../support/runs.ts'

/** More than are read at a time. */
const BROKEN = 205

/** Copies of a schedule, due before all others, in a time zone that the machine does not know. */
async function breakAll(on: TestRuns, id: string, count: number): Promise<void> {
  const rows = Array.from({ length: count - 1 }, (_, i) => `${id}-${i}`)
  await on.app.db.batch([
    {
      sql: "UPDATE schedule SET time_zone = 'Nowhere/Gone', next_at = ? WHERE id = ?",
      args: [on.clock.now(), id],
    },
    ...rows.map((row) => ({
      sql: `INSERT INTO schedule (id, tenant_id, name, kind, cron, at, time_zone, text, thinks,
          app_id, session, webhook_ids, max_model_calls, approved_tools, enabled, next_at,
          failures, created_at)
        SELECT ?, tenant_id, ?, kind, cron, at, time_zone, text, thinks, app_id, session,
          webhook_ids, max_model_calls, approved_tools, enabled, next_at, failures, created_at
        FROM schedule WHERE id = ?`,
      args: [row, row, id],
    })),
  ])
}

test('schedules that cannot be fired hold up no other one', async () => {
  const on = await startRuns()
  const { id } = await scheduled(await on.keyOf(), { cron: '*/30 * * * *' })
  await breakAll(on, id, BROKEN)
  const call = await on.keyOf()
  const good = await scheduled(call, { at: on.inMs(MINUTE_MS) })
  on.clock.advance(MINUTE_MS)
  await on.settled()
  expect(await runsOf(call, good.id)).toMatchObject([{ status: 'done' }])
  await on.stop()
})

test('a schedule that cannot be fired is tried again seldom, and runs once it can be', async () => {
  const on = await startRuns()
  const faults = () => on.app.log().split('schedule not fired').length - 1
  const after = async (ms: number) => {
    on.clock.advance(ms)
    await on.settled()
    return faults()
  }
  const call = await on.keyOf()
  const { id } = await scheduled(call, { cron: '*/30 * * * *' })
  await breakAll(on, id, 1)
  expect(await after(0)).toBe(1)
  expect(await after(9_000)).toBe(1)
  expect(await after(1_000)).toBe(2)
  expect(await after(59_000)).toBe(2)
  await on.app.db.run({ sql: "UPDATE schedule SET time_zone = 'UTC' WHERE id = ?", args: [id] })
  expect(await after(1_000)).toBe(2)
  expect(await runsOf(call, id)).toMatchObject([{ status: 'done' }])
  await on.stop()
})
