import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type Db, sql } from '../db.ts'
import type { SharedState } from '../shared-state.ts'
import { createAnnouncer } from './announcer.ts'
import { createSharedFiles } from './files.ts'
import { createLeases } from './leases.ts'
import { createNotifier } from './notifier.ts'
import { createSharedCodes } from './one-time-codes.ts'
import { createSharedWindows } from './rate-windows.ts'
import { createTurnOrder } from './turn-order.ts'

export interface SharedStateOptions {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Of a connection without a pooler; null: servers find out by asking alone. */
  readonly directUrl: string | null
}

/** How often a server says that it lives. */
const BEAT_MS = 5_000
/** What has ended is removed this often, by beats. */
const SWEEP_BEATS = 12

/** What the servers of a database agree on, in its tables. Resolves once this one is known. */
export async function openSharedState(options: SharedStateOptions): Promise<SharedState> {
  const { db, clock, log, directUrl } = options
  const replica = newId()
  const notifier = createNotifier({ db, url: directUrl, clock, log })
  const parts = { db, replica, notifier, clock, log }
  const turnOrder = createTurnOrder(parts)
  const announcer = createAnnouncer(parts)
  const leases = createLeases({ ...parts, announcer })
  let beats = 0
  let beating: Promise<void> | null = null

  const sayAlive = () =>
    db.get(sql`
      INSERT INTO replica (id, seen_at) VALUES (${replica}, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`)

  async function beat(): Promise<void> {
    await sayAlive()
    await leases.renew()
    await turnOrder.deleteOrphans()
    if (beats++ % SWEEP_BEATS === 0) for (const ended of ENDED) await db.get(ended)
  }

  function beatOnce(): void {
    beating ??= beat()
      .catch((error) => log.warn('the database did not hear this server', errorFields(error)))
      .finally(() => {
        beating = null
      })
  }

  await sayAlive()
  const stop = clock.every(BEAT_MS, beatOnce)
  return {
    isAlone: false,
    turnOrder,
    openWindows: createSharedWindows(db),
    openCodes: createSharedCodes(db),
    leases,
    files: createSharedFiles(db),
    announcer,
    async close() {
      stop()
      await beating
      await announcer.close()
      const farewell = [leases.close(), turnOrder.close(), leave()]
      for (const end of await Promise.allSettled(farewell)) {
        if (end.status === 'rejected') log.warn('farewell failed', errorFields(end.reason))
      }
      await notifier.close()
    },
  }

  async function leave(): Promise<void> {
    await db.get(sql`DELETE FROM replica WHERE id = ${replica}`)
  }
}

/** Removes what nobody asks for any more. */
const ENDED = [
  sql`DELETE FROM rate_window WHERE ends_at <= now()`,
  sql`DELETE FROM one_time_code WHERE ends_at <= now()`,
  sql`DELETE FROM lease WHERE ends_at <= now()`,
  sql`DELETE FROM announcement WHERE at < now() - interval '1 day'`,
  sql`DELETE FROM replica WHERE seen_at < now() - interval '1 minute'`,
  // Of a server that was killed before it had stored the source, or after it had read it.
  sql`DELETE FROM shared_file f WHERE at < now() - interval '1 day'
    AND NOT EXISTS (SELECT 1 FROM kb_source s WHERE s.id = f.id
      AND s.state IN ('queued', 'reading', 'embedding'))`,
  sql`DELETE FROM turn_ticket t WHERE at < now() - interval '1 minute'
    AND NOT EXISTS (SELECT 1 FROM replica r WHERE r.id = t.replica)`,
]
