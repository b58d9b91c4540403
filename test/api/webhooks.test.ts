import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Webhook as Standard } from 'standardwebhooks'
import type { IssuedWebhook, Webhook } from '../../src/features/webhooks/model.ts'
import { type Call, surfaceOf } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { startNameServer } from '../support/name-server.ts'
import { startTeam } from '../support/team.ts'
import {
  deliveriesOf,
  later,
  listed,
  make,
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

describe('a webhook', () => {
  test('is signed as Standard Webhooks says, by both secrets for a day', async () => {
    using sink = startSink()
    const { tenantId, call } = await tenantOf(app)
    const made = await make(call, sink.url)
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made.secret_tail).toBe(made.secret.slice(-4))
    await tell(app, tenantId)
    const [first] = sink.received
    const body = new Standard(made.secret).verify(first?.body ?? '', first?.headers ?? {})
    expect(body).toMatchObject({
      type: 'schedule.paused',
      data: { schedule_id: 's', name: 'nightly' },
    })
    const next = (await call<IssuedWebhook>('POST', `/webhooks/${made.id}/rotate`)).json()
    expect(next.secret).not.toBe(made.secret)
    await tell(app, tenantId)
    const [, second] = sink.received
    for (const secret of [made.secret, next.secret]) {
      new Standard(secret).verify(second?.body ?? '', second?.headers ?? {})
    }
    const shown = JSON.stringify(await listed(call, made.id))
    expect(shown).not.toContain(next.secret)
    expect(await listed(call, made.id)).toMatchObject({ last_status: 204, failures: 0 })
    clock.advance(24 * 60 * MINUTE)
    await tell(app, tenantId)
    expect(sink.received[2]?.headers['webhook-signature']).not.toContain(' ')
  })

  test('gets only its events, of its own tenant, while it is enabled', async () => {
    using sink = startSink()
    const [one, other] = [await tenantOf(app), await tenantOf(app)]
    const { id } = await make(one.call, sink.url)
    await make(one.call, sink.url, { events: ['device.online'] })
    await make(other.call, sink.url)
    await tell(app, one.tenantId)
    expect(sink.received).toHaveLength(1)
    const body = { name: 'n', url: sink.url, events: ['schedule.paused'], enabled: false }
    expect((await one.call('PUT', `/webhooks/${id}`, body)).status).toBe(200)
    await tell(app, one.tenantId)
    expect(sink.received).toHaveLength(1)
    expect((await other.call('DELETE', `/webhooks/${id}`)).status).toBe(404)
    expect((await one.call('DELETE', `/webhooks/${id}`)).json()).toEqual({ id, deleted: true })
  })

  test('refuses what is wrong, and an eleventh', async () => {
    const { call } = await tenantOf(app)
    const good = { name: 'n', url: 'https://a.example.com/', events: ['run.done'] }
    const code = async (more: object) =>
      (await call('POST', '/webhooks', { ...good, ...more })).headers.get('x-error-code')
    expect(await code({ events: ['run.*'] })).toBe('event_unknown')
    expect(await code({ events: [] })).toBe('field_empty')
    expect(await code({ url: 'http://10.0.0.1/' })).toBe('url_internal')
    expect(await code({ format: 'xml' })).toBe('field_invalid')
    for (let i = 0; i < 10; i++) expect((await call('POST', '/webhooks', good)).status).toBe(201)
    const full = await call('POST', '/webhooks', good)
    expect([full.status, full.headers.get('x-error-code')]).toEqual([403, 'quota_webhooks'])
  })

  test('shows a viewer whose its address is, and not what stands behind the host', async () => {
    const team = await startTeam(app)
    const body = { name: 'n', url: 'https://hooks.example.com/T1/key?k=1', events: ['run.done'] }
    await team.call('POST', '/console/webhooks', body)
    const urlFor = async (call: Call) =>
      (await call<{ webhooks: Webhook[] }>('GET', '/console/webhooks')).json().webhooks[0]?.url
    expect(await urlFor((await team.join('editor')).call)).toBe(body.url)
    expect(await urlFor((await team.join('viewer')).call)).toBe('https://hooks.example.com')
  })

  test('says one sentence in the language of the tenant, or the reply', async () => {
    using sink = startSink()
    const mail = 'words@example.com'
    const { tenantId } = await app.key(mail)
    const call = await surfaceOf(app, '/console', mail)
    const text = { format: 'text', events: ['schedule.paused', 'run.done'], include_reply: true }
    const { id } = await make(call, sink.url, text)
    await tell(app, tenantId)
    await call('PUT', '/settings', { language: 'en' })
    await tell(app, tenantId)
    const data = { run_id: 'r', name: 'n', reply: '完'.repeat(5_000) }
    const { outbox } = app.webhooks
    const told = { data, whose: { userId: null, namedAt: null } }
    await app.db.batch(outbox.naming(tenantId, 'run.done', [id], told))
    expect(outbox.naming(tenantId, 'run.done', [], told)).toEqual([])
    outbox.sent(tenantId)
    await app.jobs.idle()
    expect(sink.received.map(({ body }) => body)).toEqual([
      '计划任务已暂停：nightly',
      'Schedule paused: nightly',
      '完'.repeat(4_000),
    ])
    expect(sink.received[0]?.headers['content-type']).toBe('text/plain; charset=utf-8')
    const kept = await app.db.all({
      sql: 'SELECT payload FROM webhook_delivery WHERE webhook_id = ?',
      args: [id],
    })
    expect(kept).toEqual([{ payload: null }, { payload: null }, { payload: null }])
  })

  test('that is tested is told at once, without a delivery or a failure', async () => {
    using sink = startSink()
    const { call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    const tried = async () => (await call('POST', `/webhooks/${id}/test`)).json()
    expect(await tried()).toMatchObject({ ok: true, status: 204, error_class: null })
    sink.answers(() => new Response('no', { status: 500 }))
    expect(await tried()).toMatchObject({ ok: false, status: 500, error_class: 'status' })
    expect(await deliveriesOf(call, id)).toEqual([])
    expect(await listed(call, id)).toMatchObject({ failures: 0, last_status: null })
  })
})

describe('a delivery', () => {
  test('that fails comes again, with the same id, and then fails', async () => {
    using sink = startSink()
    sink.answers(() => new Response('no', { status: 500 }))
    const { tenantId, call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    await tell(app, tenantId)
    for (const [tries, ms] of [
      [1, 10_000],
      [2, MINUTE],
      [3, 10 * MINUTE],
      [4, 60 * MINUTE],
    ] as const) {
      expect(await deliveriesOf(call, id)).toMatchObject([{ tries, status: 500, state: 'waiting' }])
      await later(app, clock, ms * 0.79)
      expect(sink.received).toHaveLength(tries)
      await later(app, clock, ms * 0.42)
      expect(sink.received).toHaveLength(tries + 1)
    }
    expect(await deliveriesOf(call, id)).toMatchObject([
      { tries: 5, status: 500, state: 'failed', next_at: null },
    ])
    expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(await listed(call, id)).toMatchObject({ failures: 1, enabled: true, last_status: 500 })
  })

  test('waits as long as the receiver asks, and not less', async () => {
    using sink = startSink()
    const { tenantId, call } = await tenantOf(app)
    await make(call, sink.url)
    sink.answers(() => new Response('', { status: 503, headers: { 'retry-after': '300' } }))
    await tell(app, tenantId)
    await later(app, clock, 299_000)
    expect(sink.received).toHaveLength(1)
    sink.answers(() => new Response('', { status: 503, headers: { 'retry-after': '1' } }))
    await later(app, clock, 2_000)
    expect(sink.received).toHaveLength(2)
    await later(app, clock, 40_000)
    expect(sink.received).toHaveLength(2)
    await later(app, clock, 40_000)
    expect(sink.received).toHaveLength(3)
  })

  test('that is told 410 is the last one', async () => {
    using sink = startSink()
    sink.answers(() => new Response('', { status: 410 }))
    const { tenantId, call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    await tell(app, tenantId)
    await tell(app, tenantId)
    expect(sink.received).toHaveLength(1)
    expect(await listed(call, id)).toMatchObject({ enabled: false, last_status: 410 })
    const again = { name: 'n', url: sink.url, events: ['schedule.paused'] }
    expect((await call('PUT', `/webhooks/${id}`, again)).json()).toMatchObject({ failures: 0 })
  })

  test('is not redirected, and not sent where the guard refuses', async () => {
    using sink = startSink()
    sink.answers(() => Response.redirect(`http://127.0.0.1:${sink.port}/inside`, 307))
    const { tenantId, call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    await tell(app, tenantId)
    expect(sink.received).toHaveLength(1)
    expect(await deliveriesOf(call, id)).toMatchObject([{ status: 307, state: 'waiting' }])
  })

  test('goes nowhere once a name has turned to an address inside', async () => {
    using sink = startSink()
    await using names = await startNameServer(() => '127.0.0.1')
    await using other = await startApp({ clock, nameServer: names.address })
    const { tenantId, call } = await tenantOf(other)
    const { id } = await make(call, `http://rebound.example.com:${sink.port}/`)
    await tell(other, tenantId)
    expect(sink.received).toEqual([])
    expect(await deliveriesOf(call, id)).toMatchObject([
      { tries: 1, status: null, state: 'failed', next_at: null },
    ])
  })

  test('succeeds by the head of an answer of 5 MB', async () => {
    using sink = startSink()
    sink.answers(() => new Response(new Uint8Array(5 * 1024 * 1024)))
    const { tenantId, call } = await tenantOf(app)
    const { id } = await make(call, sink.url)
    await tell(app, tenantId)
    expect(await deliveriesOf(call, id)).toMatchObject([{ status: 200, state: 'done' }])
  })
})
