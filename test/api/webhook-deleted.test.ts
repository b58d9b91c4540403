import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Schedule } from '../../src/features/runs/model.ts'
import { schedulesOf, startRuns, type TestRuns } from '../support/runs.ts'
import { make, startSink } from '../support/webhooks.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns({ MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterAll(() => on.stop())

interface Trigger {
  readonly url: string
  readonly webhook_ids: readonly string[]
}

test('a deleted webhook goes from schedules and triggers, which work on', async () => {
  using sink = startSink()
  const [call, other] = [await on.personOf(), await on.personOf()]
  const all = []
  for (let i = 0; i < 3; i++) all.push((await make(call, sink.url)).id)
  const [a = '', b = '', c = ''] = all
  const schedule = (name: string, webhook_ids: string[]) =>
    call<Schedule>('POST', '/schedules', { name, text: 'x', cron: '0 8 * * *', webhook_ids })
  for (const [i, ids] of [[a], [a, b], [b, a], [b, a, c], [b, c]].entries()) {
    expect((await schedule(`s${i}`, ids)).status).toBe(201)
  }
  const trigger = { name: 't', text: 'x', webhook_ids: [a, c] }
  const { url } = (await call<Trigger>('POST', '/triggers', trigger)).json()

  expect((await other('DELETE', `/webhooks/${a}`)).status).toBe(404)
  expect((await call('DELETE', '/webhooks/%25')).status).toBe(404)
  expect((await call('DELETE', `/webhooks/${a}`)).status).toBe(200)
  expect((await call('DELETE', `/webhooks/${a}`)).status).toBe(404)
  const left = (await schedulesOf(call)).map(({ webhook_ids }) => webhook_ids)
  expect(left.reverse()).toEqual([[], [b], [b], [b, c], [b, c]])
  const [stored] = await schedulesOf(call)
  const { name, text, cron, webhook_ids } = stored as Schedule
  const saved = await call('PUT', `/schedules/${stored?.id}`, { name, text, cron, webhook_ids })
  expect(saved.status).toBe(200)
  const { triggers } = (await call<{ triggers: Trigger[] }>('GET', '/triggers')).json()
  expect(triggers.map((one) => one.webhook_ids)).toEqual([[c]])
  const { pathname } = new URL(url)
  expect((await fetch(on.app.url + pathname, { method: 'POST', body: 'ding' })).status).toBe(202)
})
