import type { Clock } from '../../core/clock.ts'
import { newId, type Seal } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { WEBHOOK_FORMER_MS, WEBHOOKS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import { type AllowList, checkedUrl } from '../../upstream/egress/url-guard.ts'
import type { DeliveryStore } from './delivery-store.ts'
import {
  type Delivery,
  type IssuedWebhook,
  type Webhook,
  WebhookRequest,
  type WebhookTested,
} from './model.ts'
import type { Sender } from './sender.ts'
import { newSecret } from './signature.ts'
import { type Saver, type StoredWebhook, secretOwner, type WebhookStore } from './store.ts'

const missing = () => appError('not_found', { what: 'webhook' })
const TAIL_CHARS = 4

export interface WebhookParts {
  readonly store: WebhookStore
  readonly deliveries: Pick<DeliveryStore, 'list'>
  readonly sender: Sender
  readonly seal: Seal | null
  /** Takes a webhook that is deleted from what names it. */
  readonly dropping: (tenantId: string, id: string) => readonly Statement[]
  readonly allow: () => AllowList
  readonly clock: Clock
}

/** The tenant's webhooks. Every call answers 404 for one that is not the tenant's. */
export function createWebhooks(parts: WebhookParts) {
  const { store, deliveries, sender, allow, clock } = parts

  function sealed(): Seal {
    if (!parts.seal) throw appError('encryption_not_configured')
    return parts.seal
  }

  async function find(tenantId: string, id: string): Promise<StoredWebhook> {
    sealed()
    const webhook = await store.find(tenantId, id)
    if (!webhook) throw missing()
    return webhook
  }

  /** Throws `url_…` for an address that is refused. */
  const withUrl = (request: WebhookRequest): WebhookRequest => ({
    ...request,
    url: checkedUrl(request.url, allow()).href,
  })

  const secretFor = (tenantId: string, id: string) => {
    const secret = newSecret()
    const sealedSecret = sealed().seal(secret, secretOwner({ tenantId, id }))
    return { secret, sealed: sealedSecret, tail: secret.slice(-TAIL_CHARS) }
  }

  async function create(by: Saver, request: WebhookRequest): Promise<IssuedWebhook> {
    const { tenantId, userId } = by
    const id = newId()
    const { secret, sealed: secretSealed, tail } = secretFor(tenantId, id)
    const webhook: StoredWebhook = {
      id,
      tenantId,
      ...withUrl(request),
      secret_tail: tail,
      secretSealed,
      last_status: null,
      last_at: null,
      failures: 0,
      created_at: clock.iso(),
      formerSealed: null,
      formerUntil: null,
      userId,
      replySince: clock.now(),
    }
    if (!(await store.insert(webhook, WEBHOOKS_MAX))) {
      throw appError('quota_webhooks', { max: WEBHOOKS_MAX })
    }
    return { ...shown(webhook), secret }
  }

  async function replace(by: Saver, id: string, request: WebhookRequest): Promise<Webhook> {
    sealed()
    const { tenantId } = by
    if (!(await store.replace(by, id, withUrl(request), clock.now()))) throw missing()
    return shown(await find(tenantId, id))
  }

  return {
    /** A viewer sees of the addresses whose they are. */
    async list({ tenantId, role }: Principal, before: string | null, limit: number) {
      sealed()
      const rows = await store.list(tenantId, before, limit + 1)
      const all = rows.slice(0, limit).map(shown)
      const webhooks = role === 'viewer' ? all.map(withHostOnly) : all
      const next_before = rows.length > limit ? (webhooks.at(-1)?.id ?? null) : null
      return { webhooks, next_before }
    },

    ...createReads(parts),

    /** Throws `quota_webhooks`. */
    create,
    replace,

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      sealed()
      if (!(await store.remove(tenantId, id, parts.dropping(tenantId, id)))) throw missing()
      return { id, deleted: true }
    },

    /** A new secret; the one until now signs for a day, too. */
    async rotate(tenantId: string, id: string): Promise<IssuedWebhook> {
      const { secret, ...next } = secretFor(tenantId, id)
      const until = clock.now() + WEBHOOK_FORMER_MS
      if (!(await store.rotate(tenantId, id, next, until))) throw missing()
      return { ...shown(await find(tenantId, id)), secret }
    },

    /** Sends a test now, without a trace in the deliveries. */
    async test(tenantId: string, id: string): Promise<WebhookTested> {
      const webhook = await find(tenantId, id)
      const payload = { type: 'webhook.test', timestamp: clock.iso(), data: {} } as const
      const begun = clock.steady()
      const { status, fault } = await sender.send(webhook, newId(), payload)
      const latency_ms = Math.round(clock.steady() - begun)
      return { ok: fault === null, status, latency_ms, error_class: fault }
    },

    async deliveries(tenantId: string, id: string): Promise<{ deliveries: Delivery[] }> {
      await find(tenantId, id)
      return { deliveries: await deliveries.list(tenantId, id) }
    },
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>

/** Path and query of an address are often what lets a sender in. */
const withHostOnly = (webhook: Webhook): Webhook => ({
  ...webhook,
  url: new URL(webhook.url).origin,
})

const shown = ({
  tenantId: _,
  secretSealed: __,
  formerSealed: ___,
  formerUntil: ____,
  userId: _____,
  replySince: ______,
  ...webhook
}: StoredWebhook): Webhook => webhook

/** What runs and transfers need of webhooks. */
function createReads({ store, seal }: WebhookParts) {
  const all = async (tenantId: string): Promise<Webhook[]> =>
    seal ? (await store.list(tenantId, null, WEBHOOKS_MAX)).map(shown) : []

  return {
    /** All of them, newest first; empty without encryption. */
    all,

    /** All of them for an export, oldest first: without secrets, disabled. */
    carried: async (tenantId: string) =>
      (await all(tenantId))
        .map(({ name, url, events, format, include_reply }) => ({
          name,
          url,
          events,
          format,
          include_reply,
          enabled: false as const,
        }))
        .reverse(),

    /** Whether all of these are webhooks of the tenant. */
    async has(tenantId: string, ids: readonly string[]): Promise<boolean> {
      if (ids.length === 0) return true
      const known = new Set((await all(tenantId)).map(({ id }) => id))
      return ids.every((id) => known.has(id))
    },

    /** Validates a webhook of an imported configuration; throws `AppError` (400). */
    checkImported: (item: unknown): WebhookRequest => ({
      ...checked(WebhookRequest, item),
      enabled: false,
    }),
  }
}
