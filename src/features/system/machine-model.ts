import { z } from 'zod'
import { DOORS } from '../../core/doors.ts'

/** How the newest backup ended. */
const LastBackup = z.lazy(() =>
  z.object({
    at: z.string(),
    /** 0 where it failed. */
    bytes: z.int(),
    ok: z.boolean(),
    error_class: z.string().nullable(),
  }),
)
export type LastBackup = z.infer<typeof LastBackup>

export const BackupsResponse = z.lazy(() =>
  z.object({
    /** A folder or `s3://…`; null where none is set. */
    place: z.string().nullable(),
    last: LastBackup.nullable(),
    next_at: z.string().nullable(),
    /** Newest first; those of this server alone. */
    kept: z.array(z.object({ name: z.string(), at: z.string(), bytes: z.int() })),
  }),
)
export type BackupsResponse = z.infer<typeof BackupsResponse>

const Count = z.lazy(() => z.object({ door: z.enum(DOORS), turns: z.int(), failures: z.int() }))

/** The server in numbers, without content. */
export const OverviewResponse = z.lazy(() =>
  z.object({
    version: z.string(),
    uptime_s: z.int(),
    /** Of the disk that holds the data folder. */
    disk: z.object({ used_bytes: z.int(), free_bytes: z.int() }),
    memory: z.object({ rss_bytes: z.int(), budget_used_bytes: z.int() }),
    /** Who signed in or asked since midnight (UTC). */
    people_today: z.int(),
    /** Turns that began at this server in the last hour. */
    turns_hour: z.int(),
    /** Those of them that ended by an error. */
    failures_hour: z.int(),
    by_door: z.array(Count),
    last_backup: LastBackup.nullable(),
    channel: z.object({ ok: z.boolean(), class: z.string().nullable(), at: z.string() }),
  }),
)
export type OverviewResponse = z.infer<typeof OverviewResponse>
