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

/** The session of a run of the schedule. */
export const sessionOfSchedule = ({ id, session }: ScheduleRow, due: number): string =>
  session === 'same' ? `sch-${id}` : `sch-${id}-${minuteName(due)}`

export const isoOf = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString()

export const webhooksOf = ({ webhook_ids }: Pick<RunRow, 'webhook_ids'>): string[] =>
  JSON.parse(webhook_ids) as string[]
