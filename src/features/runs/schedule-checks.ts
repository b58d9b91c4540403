import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { namedSubject, subjectOf } from '../../core/subject.ts'
import type { ApprovedTool } from '../../tools/tool.ts'
import type { ScheduleRequest } from './model.ts'
import type { HasApp, HashesOf, HasWebhooks } from './parts.ts'
import type { ScheduleRow, ScheduleStore, ShownSchedule } from './schedule-store.ts'
import { createTimes, nextOf, type TimesOptions } from './timing.ts'

export interface ChecksOptions extends TimesOptions {
  readonly store: Pick<ScheduleStore, 'hasDevice'>
  readonly clock: Pick<Clock, 'now' | 'iso'>
  readonly hasApp: HasApp
  readonly hasWebhooks: HasWebhooks
  readonly hashesOf: HashesOf
}

/** What the principal may name. */
function createChecks({ store, hasApp, hasWebhooks, hashesOf }: ChecksOptions) {
  /** Throws `not_found` for what is not the tenant's, or not the key's. */
  async function references({ tenantId, kind, appId }: Principal, request: ScheduleRequest) {
    const own = kind === 'app' ? appId : request.app_id
    if (kind === 'app' && request.app_id !== null && request.app_id !== appId) {
      throw appError('not_found', { what: 'app' })
    }
    if (own !== null && !(await hasApp(tenantId, own))) {
      throw appError('not_found', { what: 'app' })
    }
    const { device_id: device, webhook_ids: webhooks } = request
    if (device !== null && !(await store.hasDevice(tenantId, device))) {
      throw appError('not_found', { what: 'device' })
    }
    if (webhooks.length > 0 && !(await hasWebhooks(tenantId, webhooks))) {
      throw appError('not_found', { what: 'webhook' })
    }
    return own
  }

  /** Throws `forbidden` for a key that approves, and `field_invalid` for an unknown tool. */
  async function approved(principal: Principal, names: readonly string[]) {
    if (names.length === 0) return []
    if (principal.kind !== 'session') throw appError('forbidden', { who: principal.kind })
    const hashes = await hashesOf(principal, names)
    return names.map((name): ApprovedTool => {
      const hash = hashes.get(name)
      if (hash === undefined) throw appError('field_invalid', { field: 'approved_tools' })
      return { name, hash }
    })
  }

  return { references, approved }
}

/** Whose memory the runs have: a reminder's stays that of whom it is for. */
function subjectFor(
  principal: Principal,
  request: ScheduleRequest,
  was: ShownSchedule | null,
): string | null {
  if (was?.kind === 'reminder') return was.subject
  return subjectOf(principal, namedSubject(principal, request.subject))
}

/** Whoever writes what is asked answers for it; a reminder stays with whom it was set by. */
function savedBy({ kind, keyId, userId }: Principal, was: ShownSchedule | null) {
  if (was?.kind === 'reminder') return { key_id: was.key_id, user_id: was.user_id }
  return { key_id: kind === 'session' ? null : keyId, user_id: userId }
}

/** Makes the rows of schedules that are asked for, with all that may be wrong with them. */
export function createRows(options: ChecksOptions) {
  const { clock } = options
  const timesOf = createTimes(options)
  const checks = createChecks(options)

  /** The row of a schedule as it is asked for. */
  return async function rowOf(
    principal: Principal,
    request: ScheduleRequest,
    was: ShownSchedule | null,
  ): Promise<ScheduleRow> {
    const { tenantId, keyId, userId } = principal
    const times = await timesOf(tenantId, request, was?.at ?? null)
    const subject = subjectFor(principal, request, was)
    const app_id = await checks.references(principal, request)
    const approved = await checks.approved(principal, request.approved_tools)
    const now = clock.now()
    const isSame =
      was?.enabled === 1 &&
      was.cron === times.cron &&
      was.at === times.at &&
      was.time_zone === times.timeZone
    const isOver = was !== null && times.cron === null && times.at === was.at && !isSame
    const next = isSame ? was.next_at : isOver && (times.at ?? 0) <= now ? null : nextOf(times, now)
    return {
      id: was?.id ?? newId(),
      tenant_id: tenantId,
      name: request.name,
      kind: was?.kind ?? 'schedule',
      cron: times.cron,
      at: times.at,
      time_zone: times.timeZone,
      text: request.text,
      thinks: was?.thinks ?? 1,
      app_id,
      session: request.session,
      subject,
      device_id: request.device_id,
      webhook_ids: JSON.stringify(request.webhook_ids),
      max_model_calls: request.max_model_calls,
      approved_tools: JSON.stringify(approved),
      enabled: Number(request.enabled),
      next_at: request.enabled ? next : null,
      failures: isSame ? was.failures : 0,
      ...savedBy(principal, was),
      created_at: was?.created_at ?? clock.iso(),
      saved_at: now,
      created_by: was ? was.created_by : (userId ?? keyId),
    }
  }
}
