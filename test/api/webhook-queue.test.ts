import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { startNameServer } from '../support/name-server.ts'
import { tempFolder } from '../support/temp.ts'
import {
  deliveriesOf,
  later,
  listed,
  make,
  queue,
  startSink,
  tell,
  tenantOf,
} from '../support/webhooks.ts'

const MINUTE = 60_000

let app: TestApp
let clock: FakeClock

beforeAll(async () => {
  clock = fakeClock({ start: Date.now(), repeats: false })
  app = await startApp({ clock, env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } })
})
afterAll(() => app[Symbol.asyncDispose]())

describe('the queue', () => {
  test('that fails twenty times in a row disables, and what waits is dropped', async () => {
    await using names = await startNameServer(() => '127.0.0.1')
    await using other = await startApp({ clock, nameServer: names.address })
    const { tenantId, call } = await tenantOf(other)
    const { id } = await make(call, 'http://rebound.example.com/')
    for (let i = 0; i < 19; i++) await tell(other, tenantId)
    expect(await listed(call, id)).toMatchObject({ failures: 19, enabled: true })
    await tell(other, tenantId)
    expect(await listed(call, id)).toMatchObject({ failures: 20, enabled: false })
  })

  test('disables after a day of nothing but failures', async () => {
    using sink = startSink()
    sink.answers(() => new Response('', { status: 500 }))
    const { tenantId, call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    await tell(app, tenantId)
    for (const hours of [8, 8, 7]) await later(app, clock, hours * 60 * MINUTE)
    expect(await listed(call, id)).toMatchObject({ enabled: true })
    await later(app, clock, 73 * MINUTE)
    expect(await listed(call, id)).toMatchObject({ enabled: false })
  })

  test('that rested after failures is not disabled by the next one', async () => {
    using sink = startSink()
    sink.answers(() => new Response('', { status: 503 }))
    const { tenantId, call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    await tell(app, tenantId)
    for (const minutes of [1, 2, 13, 73]) await later(app, clock, minutes * MINUTE)
    expect(await deliveriesOf(call, id)).toMatchObject([{ state: 'failed' }])
    await later(app, clock, 3 * 24 * 60 * MINUTE)
    await tell(app, tenantId)
    expect(await deliveriesOf(call, id)).toMatchObject([{ state: 'waiting' }, { state: 'failed' }])
    expect(await listed(call, id)).toMatchObject({ enabled: true, failures: 1 })
    for (const hours of [8, 8, 8]) await later(app, clock, hours * 60 * MINUTE)
    expect(await listed(call, id)).toMatchObject({ enabled: false })
  })

  test('is one of at most 1,000 that wait: the oldest is dropped', async () => {
    using sink = startSink()
    sink.answers(() => new Response('', { status: 500 }))
    const { tenantId, call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    const rows = Array.from({ length: 1_000 }, (_, i) => `00000000-${String(i).padStart(4, '0')}`)
    for (const row of rows) {
      await app.db.run({
        sql: `INSERT INTO webhook_delivery
            (id, tenant_id, webhook_id, event, payload, at, state, due_at)
          VALUES (?, ?, ?, 'schedule.paused', '{}', 'at', 'waiting', ?)`,
        args: [row, tenantId, id, Number.MAX_SAFE_INTEGER],
      })
    }
    await tell(app, tenantId)
    const left = await app.db.all<{ id: string }>({
      sql: 'SELECT id FROM webhook_delivery WHERE webhook_id = ? ORDER BY id LIMIT 1',
      args: [id],
    })
    expect(left).toEqual([{ id: rows[1] ?? '' }])
  })

  test('of a slow receiver holds up no other one', async () => {
    using slow = startSink()
    using quick = startSink()
    const release = Promise.withResolvers<Response>()
    slow.answers(() => release.promise)
    const [one, other] = [await tenantOf(app), await tenantOf(app)]
    await make(one.call, slow.url)
    await make(other.call, quick.url)
    for (let i = 0; i < 40; i++) {
      await queue(app, one.tenantId, `${i}`)
    }
    await slow.has(2)
    await queue(app, other.tenantId, 'x')
    await quick.has(1)
    expect(slow.received).toHaveLength(2)
    slow.answers(() => new Response(null, { status: 204 }))
    release.resolve(new Response(null, { status: 204 }))
    await slow.has(40)
    await app.jobs.idle()
  })

  test('of slow tenants that hold all places lets another one in with the next', async () => {
    using slow = startSink()
    using quick = startSink()
    const held: ((answer: Response) => void)[] = []
    slow.answers(() => new Promise((resolve) => held.push(resolve)))
    const fine = () => new Response(null, { status: 204 })
    for (let i = 0; i < 4; i++) {
      const { tenantId, call } = await tenantOf(app)
      for (let hook = 0; hook < 4; hook++) await make(call, slow.url)
      for (let event = 0; event < 3; event++) {
        await queue(app, tenantId, `${event}`)
      }
    }
    await slow.has(32)
    const other = await tenantOf(app)
    await make(other.call, quick.url)
    await queue(app, other.tenantId, 'x')
    held[0]?.(fine())
    await quick.has(1)
    slow.answers(fine)
    for (const release of held) release(fine())
    await slow.has(48)
    await app.jobs.idle()
  })

  test('that a stop interrupts is sent again by the next server', async () => {
    using sink = startSink()
    using folder = tempFolder()
    const never = Promise.withResolvers<Response>()
    sink.answers(() => never.promise)
    const options = { clock, dataDir: folder.path, env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } }
    const mail = 'stopped@example.com'
    {
      await using first = await startApp(options)
      const { tenantId } = await first.key(mail)
      await make(await surfaceOf(first, '/v1', mail), sink.url)
      await queue(first, tenantId, 'x')
      await sink.has(1)
    }
    sink.answers(() => new Response(null, { status: 204 }))
    // Where other servers may send it, it is theirs after a minute.
    clock.advance(MINUTE + 1)
    await using second = await startApp(options)
    await second.webhooks.startDue()
    await sink.has(2)
    const ids = sink.received.map(({ headers }) => headers['webhook-id'])
    expect(ids[0]).toBe(ids[1] ?? '')
    await second.jobs.idle()
  })
})
