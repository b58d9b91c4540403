import type { Delivery, IssuedWebhook } from '../../src/features/webhooks/model.ts'
import { sql } from '../../src/storage/db.ts'
import { type Call, surfaceOf } from './api.ts'
import type { TestApp } from './app.ts'
import type { FakeClock } from './clock.ts'

/** A receiver of webhooks on loopback, scripted answer by answer. */
export interface Received {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

type Answer = (request: Request) => Response | Promise<Response>

export type Sink = ReturnType<typeof startSink>

/** `using sink = startSink()`; it answers 204 until `answers` says otherwise. */
export function startSink() {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  let answer: Answer = () => new Response(null, { status: 204 })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text()
      const { method, url, headers } = request
      const path = url.slice(new URL(url).origin.length)
      received.push({ method, path, body, headers: Object.fromEntries(headers) })
      for (const look of waiting) look()
      return answer(request)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    port: server.port,
    received,
    answers(next: Answer): void {
      answer = next
    },
    /** Resolves when `count` requests have come. */
    has(count: number): Promise<void> {
      return new Promise((resolve) => {
        const look = () => {
          if (received.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      })
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}

export const make = async (call: Call, url: string, more: object = {}) =>
  (
    await call<IssuedWebhook>('POST', '/webhooks', {
      ...{ name: 'n', url, events: ['schedule.paused'] },
      ...more,
    })
  ).json()

export const deliveriesOf = async (call: Call, id: string) =>
  (await call<{ deliveries: Delivery[] }>('GET', `/webhooks/${id}/deliveries`)).json().deliveries

export const listed = async (call: Call, id: string) =>
  (await call<{ webhooks: IssuedWebhook[] }>('GET', '/webhooks'))
    .json()
    .webhooks.find((one) => one.id === id)

/** A new tenant, and its surface. */
export async function tenantOf(app: TestApp) {
  const mail = `webhooks-${crypto.randomUUID()}@example.com`
  const { tenantId } = await app.key(mail)
  return { tenantId, call: await surfaceOf(app, '/v1', mail) }
}

/** Queues for the webhooks of a tenant that a schedule was paused. */
export async function queue(app: TestApp, tenantId: string, name: string): Promise<void> {
  const { outbox } = app.webhooks
  const data = { schedule_id: 's', name }
  await app.db.batch(await outbox.telling(tenantId, 'schedule.paused', data, sql`1 = 1`))
  outbox.sent(tenantId)
}

/** Tells the webhooks of a tenant that a schedule was paused, and sends it. */
export async function tell(app: TestApp, tenantId: string): Promise<void> {
  await queue(app, tenantId, 'nightly')
  await app.jobs.idle()
}

/** Moves the clock and sends what is due then. */
export async function later(app: TestApp, clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms)
  await app.webhooks.startDue()
  await app.jobs.idle()
}
