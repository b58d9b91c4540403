import type { Principal } from '../../core/principal.ts'
import type { RunRow } from './run-store.ts'
import type { ScheduleRow } from './schedule-store.ts'

/** Whether the tenant has the app. */
export type HasApp = (tenantId: string, id: string) => Promise<boolean>

/** Whether all of these are webhooks of the tenant. */
export type HasWebhooks = (tenantId: string, ids: readonly string[]) => Promise<boolean>

/** The hashes of approved tools by the names that models call them by. */
export type HashesOf = (
  principal: Principal,
  names: readonly string[],
) => Promise<ReadonlyMap<string, string>>

/** The minute of a session's name. */
const minuteName = (time: number): string =>
  new Date(time).toISOString().slice(0, 16).replaceAll('-', '').replace(':', '')

/** The session of a run of the schedule that is due then. */
export type SessionOf = (schedule: ScheduleRow, due: number) => Promise<string>

/** Names sessions of runs; `ownerOf` is null for no person's talk, undefined for one never used. */
export const createSessionNames =
  (ownerOf: (tenantId: string, id: string) => Promise<string | null | undefined>): SessionOf =>
  async ({ id, tenant_id, session, user_id, key_id }, due) => {
    if (session === 'new') return `sch-${id}-${minuteName(due)}`
    const first = `sch-${id}`
    const owner = await ownerOf(tenant_id, first)
    // What was said there is for whoever had saved the schedule then.
    return owner === undefined || owner === user_id ? first : `${first}-${user_id ?? key_id}`
  }

export const isoOf = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString()

export const webhooksOf = ({ webhook_ids }: Pick<RunRow, 'webhook_ids'>): string[] =>
  JSON.parse(webhook_ids) as string[]
