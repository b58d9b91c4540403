import { type Db, sql } from '../../storage/db.ts'
import type { ScheduleRow } from './schedule-store.ts'

/** Reminders that are still to come. */
export function createReminderStore(db: Db) {
  return {
    /** Those of a subject, for the same app and device. */
    ofSubject: (tenantId: string, subject: string, appId: string | null, deviceId: string | null) =>
      db.all<ScheduleRow>(sql`
        SELECT * FROM schedule WHERE tenant_id = ${tenantId} AND kind = 'reminder'
          AND subject = ${subject} AND next_at IS NOT NULL AND coalesce(app_id, '') = ${appId ?? ''}
          AND coalesce(device_id, '') = ${deviceId ?? ''} ORDER BY next_at, id LIMIT 100`),

    /** How many the tenant has. */
    async count(tenantId: string): Promise<number> {
      const row = await db.get<{ reminders: number }>(sql`
        SELECT count(*) AS reminders FROM schedule
        WHERE tenant_id = ${tenantId} AND kind = 'reminder' AND next_at IS NOT NULL`)
      return row?.reminders ?? 0
    },
  }
}
export type ReminderStore = ReturnType<typeof createReminderStore>
