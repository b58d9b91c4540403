import type { Clock } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { WEBHOOK_MS_MAX } from '../../core/limits/contract.ts'
import { WEBHOOK_ANSWER_BYTES_MAX } from '../../core/limits/machine.ts'
import type { FetchFor } from '../../upstream/egress/guarded-fetch.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { WebhookEvent, WebhookFault } from './model.ts'
import { type EventData, sentenceOf } from './sentences.ts'
import { signedHeaders } from './signature.ts'
import { type StoredWebhook, secretOwner } from './store.ts'

export interface Payload {
  readonly type: WebhookEvent | 'webhook.test'
  readonly timestamp: string
  readonly data: EventData
}

export interface Sent {
  /** Null without an answer. */
  readonly status: number | null
  /** Null for a success. */
  readonly fault: WebhookFault | null
  /** What `Retry-After` asks for. */
  readonly retryAfterMs: number
}

export interface SenderParts {
  readonly seal: Seal | null
  /** Reaches only addresses that are allowed, and follows no redirect. */
  readonly fetchFor: FetchFor
  readonly languageOf: (tenantId: string) => Promise<'zh' | 'en'>
  readonly clock: Clock
}

/** Signs and sends one message. */
export function createSender({ seal, fetchFor, languageOf, clock }: SenderParts) {
  function secretsOf(webhook: StoredWebhook): string[] {
    const { secretSealed, formerSealed, formerUntil } = webhook
    const isFormerGood = formerUntil !== null && formerUntil > clock.now()
    const kept = [secretSealed, ...(formerSealed && isFormerGood ? [formerSealed] : [])]
    return kept.flatMap((one) => seal?.open(one, secretOwner(webhook)) ?? [])
  }

  async function bodyOf({ format, tenantId }: StoredWebhook, payload: Payload) {
    if (format === 'json') return { body: JSON.stringify(payload), type: 'application/json' }
    const body = sentenceOf(payload.type, payload.data, await languageOf(tenantId))
    return { body, type: 'text/plain; charset=utf-8' }
  }

  return {
    /**
     * Rejects when the caller's signal aborts or the database fails, and for nothing that the
     * receiver does. `id` stays the same for all tries.
     */
    async send(
      webhook: StoredWebhook,
      id: string,
      payload: Payload,
      stopping?: AbortSignal,
    ): Promise<Sent> {
      const secrets = secretsOf(webhook)
      if (secrets.length === 0) return { status: null, fault: 'undecryptable', retryAfterMs: 0 }
      const { body, type } = await bodyOf(webhook, payload)
      const signed = signedHeaders(id, Math.floor(clock.now() / 1000), body, secrets)
      const headers = { ...signed, 'content-type': type, 'user-agent': 'Moonbase-Webhook' }
      const late = new AbortController()
      const cancel = clock.after(WEBHOOK_MS_MAX, () => late.abort(new Error('no answer in time')))
      const signal = stopping ? AbortSignal.any([stopping, late.signal]) : late.signal
      try {
        const response = await fetchFor(webhook.tenantId)(webhook.url, {
          method: 'POST',
          headers,
          body,
          signal,
        })
        await forget(response)
        const fault = response.ok ? null : 'status'
        return { status: response.status, fault, retryAfterMs: retryAfter(response, clock.now()) }
      } catch (error) {
        if (stopping?.aborted) throw error
        const fault = late.signal.aborted
          ? 'timeout'
          : error instanceof ChannelFailure
            ? 'refused'
            : 'unreachable'
        return { status: null, fault, retryAfterMs: 0 }
      } finally {
        cancel()
      }
    },
  }
}

export type Sender = ReturnType<typeof createSender>

/** Reads the beginning of an answer: its head has decided, so its body may break off. */
async function forget({ body }: Response): Promise<void> {
  let bytes = 0
  try {
    for await (const piece of body ?? []) {
      bytes += piece.byteLength
      if (bytes > WEBHOOK_ANSWER_BYTES_MAX) return
    }
  } catch {
    // It was cut off.
  }
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfter({ headers }: Response, now: number): number {
  const given = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(given)) return Number(given) * 1000
  const at = Date.parse(given)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
