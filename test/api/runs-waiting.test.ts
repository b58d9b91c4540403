import { afterAll, beforeAll, expect, test } from 'bun:test'
import { HOUR_MS } from '../../src/core/clock.ts'
import type { NewRun } from '../../src/features/runs/run-store.ts'
import { createRunStore } from '../../src/features/runs/run-store.ts'
import { queueRun } from '../../src/features/runs/waiting.ts'
import { startRuns, type TestRuns } from '../support/runs.ts'

const KIB = 1024

let on: TestRuns
beforeAll(async () => {
  on = await startRuns()
})
afterAll(() => on.stop())

const newRun = (tenantId: string, id: string, text: string): NewRun => ({
  id,
  tenant_id: tenantId,
  schedule_id: null,
  trigger_id: null,
  name: null,
  ask: { text, kb: false, max_model_calls: 1, approved_tools: [], thinks: true, title: null },
  app_id: null,
  session_id: id,
  subject: null,
  device_id: null,
  webhook_ids: [],
  key_id: null,
  user_id: null,
  late: false,
  due_at: on.clock.now() + HOUR_MS,
  fire_at: null,
  named_at: null,
  now: on.clock.now(),
})

test('waiting runs of a tenant are bounded by number and by bytes', async () => {
  const store = createRunStore(on.app.db)
  const [one, other] = [await on.app.key(on.email()), await on.app.key(on.email())]
  const bounds = { runs: 3, bytes: 4 * KIB }
  const wait = (tenantId: string, id: string, text: string) =>
    queueRun(store, newRun(tenantId, id, text), bounds).catch((error: unknown) => error)

  expect(await wait(one.tenantId, 'a', 'x'.repeat(2 * KIB))).toBeUndefined()
  // Of three bytes each: as many characters as there is room for.
  const wide = '汉'.repeat(KIB)
  expect(await wait(one.tenantId, 'b', wide)).toMatchObject({
    code: 'runs_too_large',
    status: 429,
  })
  expect(await wait(other.tenantId, 'c', wide)).toBeUndefined()
  expect(await wait(one.tenantId, 'd', 'x')).toBeUndefined()
  expect(await wait(one.tenantId, 'e', 'x')).toBeUndefined()
  expect(await wait(one.tenantId, 'f', 'x')).toMatchObject({ code: 'quota_schedules' })

  expect(await store.cancel(one.tenantId, 'a', on.clock.now())).toBeTrue()
  expect(await wait(one.tenantId, 'g', 'x'.repeat(3 * KIB))).toBeUndefined()
})
