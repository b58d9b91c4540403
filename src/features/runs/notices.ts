import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import {
  LIST_LIMIT_MAX,
  NOTICES_AT_ONCE_MAX,
  RUN_RETENTION_DAYS,
  SENTENCES_WAITING_MAX,
} from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { Notice } from './model.ts'
import type { NoticeRow, NoticeStore } from './notice-store.ts'

/** A device is told what is not older than this. */
const DEVICE_MS = DAY_MS

/** Results of runs, given once to each person or device that they are for. */
export function createNotices({ store, clock }: { store: NoticeStore; clock: Clock }) {
  /** Takes those that nobody else has taken. */
  async function taken(rows: readonly NoticeRow[]): Promise<NoticeRow[]> {
    const ours: NoticeRow[] = []
    for (const row of rows) {
      if (await store.take(row.tenant_id, row.id, clock.now())) ours.push(row)
    }
    return ours
  }

  return {
    async list({ tenantId, userId }: Principal): Promise<{ notices: Notice[] }> {
      const rows = await store.ofPerson(tenantId, userId ?? '', LIST_LIMIT_MAX)
      return { notices: rows.map(shown) }
    },

    /** Throws `not_found` for a notice that is not the person's. */
    async read({ tenantId, userId }: Principal, id: string): Promise<{ id: string; read: true }> {
      const known = await store.find(tenantId, userId ?? '', id)
      if (!known) throw appError('not_found', { what: 'notice' })
      await store.take(tenantId, id, clock.now())
      return { id, read: true }
    },

    /** Has a device told a text that no run made. Throws `quota_schedules` when too many wait. */
    async say(said: { tenantId: string; deviceId: string; text: string }) {
      const id = newId()
      const sentence = { id, tenantId: said.tenantId, deviceId: said.deviceId, text: said.text }
      if (!(await store.insertSentence(sentence, clock.now(), SENTENCES_WAITING_MAX))) {
        throw appError('quota_schedules', { what: 'sentence', max: SENTENCES_WAITING_MAX })
      }
      return { id, text: said.text }
    },

    /** What a device is told now, each once. */
    async forDevice(tenantId: string, deviceId: string) {
      const since = clock.now() - DEVICE_MS
      const rows = await store.ofDevices(tenantId, [deviceId], since, NOTICES_AT_ONCE_MAX)
      return (await taken(rows)).map(({ run_id, text, due_at }) => ({
        run_id,
        text,
        due_at: new Date(due_at).toISOString(),
      }))
    },

    /** What the devices among these are told now, each once. */
    async forDevices(tenantId: string, deviceIds: readonly string[]) {
      if (deviceIds.length === 0) return []
      const since = clock.now() - DEVICE_MS
      return taken(await store.ofDevices(tenantId, deviceIds, since, NOTICES_AT_ONCE_MAX))
    },

    /** What was taken for a device that did not come to hear it. */
    async giveBack(unheard: readonly Pick<NoticeRow, 'id' | 'tenant_id'>[]): Promise<void> {
      for (const { id, tenant_id: tenantId } of unheard) await store.giveBack(tenantId, id)
    },

    /** Deletes what was made long ago, and what no device was given in time. */
    async prune(): Promise<void> {
      const now = clock.now()
      while ((await store.prune(now - RUN_RETENTION_DAYS * DAY_MS)) > 0);
      while ((await store.pruneUnheard(now - DEVICE_MS)) > 0);
    },
  }
}
export type Notices = ReturnType<typeof createNotices>

const shown = ({ id, run_id, session_id, text, due_at }: NoticeRow): Notice => ({
  id,
  run_id,
  session_id,
  text,
  due_at: new Date(due_at).toISOString(),
})
