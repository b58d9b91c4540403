import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import type { Run } from '../../src/features/runs/model.ts'
import { sql } from '../../src/storage/db.ts'
import type { Call } from '../support/api.ts'
import { runOf, scheduled, startRuns, type TestRuns } from '../support/runs.ts'
import { startTeam } from '../support/team.ts'
import { deliveriesOf, later, make, type Sink, startSink } from '../support/webhooks.ts'

let on: TestRuns
beforeAll(async () => {
  on = await startRuns({ MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterEach(() => on.upstream.reset())
afterAll(() => on.stop())

const RUNS = ['run.done', 'run.failed', 'schedule.paused']
const toldTo = ({ received }: Sink) =>
  received.map(({ body }) => {
    const { type, data } = JSON.parse(body)
    return { type, ...data }
  })

test('the end of a run tells its webhooks, the reply to those that ask for it', async () => {
  using sink = startSink()
  const call = await on.keyOf()
  const whole = await make(call, sink.url, { events: RUNS, include_reply: true })
  const plain = await make(call, sink.url, { events: RUNS })
  const other = await make(call, sink.url, { events: RUNS })
  const deaf = await make(call, sink.url, { events: ['run.failed'] })
  const off = await make(call, sink.url, { events: RUNS, enabled: false })
  on.upstream.reply({ text: 'Sunny.' })
  const webhook_ids = [whole.id, plain.id, deaf.id, off.id]
  const { id } = (await call<Run>('POST', '/runs', { text: 'Weather?', webhook_ids })).json()
  await on.settled()
  const told = {
    ...{ type: 'run.done', run_id: id, schedule_id: null, name: null, app_id: null },
    ...{ session_id: `run-${id}`, error_class: null },
  }
  const replied = toldTo(sink).toSorted((a, b) => Number('reply' in b) - Number('reply' in a))
  expect(replied).toEqual([{ ...told, reply: 'Sunny.' }, told])
  for (const one of [other, deaf, off]) expect(await deliveriesOf(call, one.id)).toEqual([])
})

test('replies of a person go where another sends them only once that person saves', async () => {
  using sink = startSink()
  const { call, join } = await startTeam(on.app)
  const owner: Call = (method, path, body) => call(method, `/console${path}`, body)
  const editorCall = (await join('editor')).call
  const editor: Call = (method, path, body) => editorCall(method, `/console${path}`, body)
  const { id, name, url, events } = await make(owner, sink.url, { events: RUNS })
  const asked = { name: 'news', text: 'News?', cron: '0 8 * * *', webhook_ids: [id] }
  const own = await scheduled(owner, asked)
  const theirs = await scheduled(editor, { ...asked, name: 'theirs' })
  /** Of a run of each of the two schedules: whether its reply was told. */
  const told = async () => {
    sink.received.length = 0
    for (const one of [own, theirs]) {
      await owner('POST', `/schedules/${one.id}/run`)
      await on.settled()
    }
    return toldTo(sink).map((data) => 'reply' in data)
  }
  const put = (who: Call, body: object) =>
    who('PUT', `/webhooks/${id}`, { name, url, events, ...body })
  expect(await told()).toEqual([false, false])
  on.clock.advance(1)
  expect((await put(editor, { include_reply: true })).status).toBe(200)
  expect(await told()).toEqual([false, true])
  on.clock.advance(1)
  await put(owner, { include_reply: true, name: 'renamed' })
  expect(await told()).toEqual([false, true])
  await owner('PUT', `/schedules/${own.id}`, asked)
  expect(await told()).toEqual([true, true])
  on.clock.advance(1)
  // Another address is another receiver.
  await put(owner, { include_reply: true, url: `${url}?2` })
  expect(await told()).toEqual([true, false])
})

test('a reply that waits goes to no address set later, and not where replies are off', async () => {
  using sink = startSink()
  using theirs = startSink()
  const { call, join } = await startTeam(on.app)
  const owner: Call = (method, path, body) => call(method, `/console${path}`, body)
  const editorCall = (await join('editor')).call
  const editor: Call = (method, path, body) => editorCall(method, `/console${path}`, body)
  const { id, name, events } = await make(owner, sink.url, { events: RUNS, include_reply: true })
  const put = (who: Call, url: string, include_reply: boolean) =>
    who('PUT', `/webhooks/${id}`, { name, url, events, include_reply })
  const run = async () => {
    on.clock.advance(1)
    await owner('POST', '/runs', { text: 'News?', webhook_ids: [id] })
    await on.settled()
  }
  const retry = async () => {
    await later(on.app, on.clock, MINUTE_MS)
    return toldTo(sink).map((data) => 'reply' in data)
  }
  sink.answers(() => new Response('', { status: 503 }))
  await run()
  expect(await retry()).toEqual([true, true])
  on.clock.advance(1)
  expect((await put(editor, theirs.url, true)).status).toBe(200)
  await later(on.app, on.clock, 20 * MINUTE_MS)
  expect(toldTo(theirs)).toMatchObject([{ type: 'run.done' }])
  expect(toldTo(theirs)[0]).not.toHaveProperty('reply')
  await put(owner, sink.url, true)
  sink.received.length = 0
  await run()
  await put(owner, sink.url, false)
  expect(await retry()).toEqual([true, false])
})

test('a run and what is told of it are stored together, or neither', async () => {
  using sink = startSink()
  const call = await on.keyOf()
  const { id: webhookId } = await make(call, sink.url, { events: RUNS })
  const { db } = on.app
  await db.run(sql`ALTER TABLE webhook_delivery RENAME TO away`)
  const asked = { text: 'x', webhook_ids: [webhookId] }
  const { id } = (await call<Run>('POST', '/runs', asked)).json()
  await on.settled()
  expect((await runOf(call, id)).status).toBe('running')
  await db.run(sql`ALTER TABLE away RENAME TO webhook_delivery`)
  on.clock.advance(2 * MINUTE_MS)
  await on.settled()
  expect(await runOf(call, id)).toMatchObject({ status: 'failed', error_class: 'interrupted' })
  expect(toldTo(sink)).toMatchObject([{ type: 'run.failed', run_id: id }])
})

test('the fifth failure in a row tells that the schedule is paused, once', async () => {
  using sink = startSink()
  const call = await on.keyOf()
  await make(call, sink.url, { events: RUNS })
  const { id } = await scheduled(call, { cron: '0 * * * *' })
  for (let i = 0; i < 6; i++) {
    on.upstream.fault(400)
    await call('POST', `/schedules/${id}/run`)
    await on.settled()
  }
  expect(toldTo(sink)).toEqual([{ type: 'schedule.paused', schedule_id: id, name: 'news' }])
})
