import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { OpenWindows, Standing } from '../../core/rate-windows.ts'
import { type Db, sql } from '../db.ts'
import type { OpenCodes, SharedFiles, SharedState } from '../shared-state.ts'
import { createAnnouncer } from './announcer.ts'
import { createLeases } from './leases.ts'
import { createNotifier } from './notifier.ts'
import { createTurnOrder } from './turn-order.ts'

export interface SharedStateOptions {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** The address without a pooler; null: servers learn of each other's changes by polling alone. */
  readonly directUrl: string | null
  /** A name that one living server has at a time; null or absent: none is known. */
  readonly home?: string | null
}

/** How often a server records that it is alive. */
const BEAT_MS = 5_000
/** Expired rows are removed once in this many beats. */
const SWEEP_BEATS = 12

/** Shared state in tables of the database. Resolves once this server is registered. */
export async function openSharedState(options: SharedStateOptions): Promise<SharedState> {
  const { db, clock, log, directUrl, home = null } = options
  const replica = home === null ? newId() : `${home}.${newId()}`
  const notifier = createNotifier({ db, url: directUrl, clock, log })
  const parts = { db, replica, notifier, clock, log }
  const turnOrder = createTurnOrder(parts)
  const announcer = createAnnouncer(parts)
  const leases = createLeases({ ...parts, announcer })
  const watches: (() => Promise<unknown>)[] = []
  let beats = 0
  let beating: Promise<void> | null = null

  const heartbeat = () =>
    db.get(sql`
      INSERT INTO replica (id, seen_at) VALUES (${replica}, clock_timestamp())
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`)

  async function beat(): Promise<void> {
    await heartbeat()
    await leases.renew()
    await turnOrder.deleteOrphans()
    if (beats++ % SWEEP_BEATS === 0) for (const ended of ENDED) await db.get(ended)
    await Promise.all(watches.map((look) => look()))
  }

  function beatOnce(): void {
    beating ??= beat()
      .catch((error) => log.warn('heartbeat not stored', errorFields(error)))
      .finally(() => {
        beating = null
      })
  }

  if (home !== null) for (const left of leftBy(home)) await db.get(left)
  await heartbeat()
  const stop = clock.every(BEAT_MS, beatOnce)
  return {
    isAlone: false,
    turnOrder,
    openWindows: createSharedWindows(db),
    openCodes: createSharedCodes(db),
    leases,
    files: createSharedFiles(db),
    announcer: { ...announcer, watch: (look) => void watches.push(look) },
    async close() {
      stop()
      await beating
      await announcer.close()
      const shutdownSteps = [leases.close(), turnOrder.close(), leave()]
      for (const end of await Promise.allSettled(shutdownSteps)) {
        if (end.status === 'rejected') log.warn('server not signed off', errorFields(end.reason))
      }
      await notifier.close()
    },
  }

  async function leave(): Promise<void> {
    await db.get(sql`DELETE FROM replica WHERE id = ${replica}`)
  }
}

/** Takes from dead servers of this home what others would believe to be held for a minute. */
const leftBy = (home: string) => [
  sql`DELETE FROM lease WHERE starts_with(holder, ${`${home}.`})`,
  sql`DELETE FROM replica WHERE starts_with(id, ${`${home}.`})`,
]

/** Removes expired rows. */
const ENDED = [
  sql`DELETE FROM rate_window WHERE ends_at <= now()`,
  sql`DELETE FROM one_time_code WHERE ends_at <= now()`,
  sql`DELETE FROM lease WHERE ends_at <= now()`,
  sql`DELETE FROM announcement WHERE at < now() - interval '1 day'`,
  sql`DELETE FROM replica WHERE seen_at < now() - interval '1 minute'`,
  // Left by a server that was killed before it had stored the source, or after it had read it.
  sql`DELETE FROM shared_file f WHERE at < now() - interval '1 day'
    AND NOT EXISTS (SELECT 1 FROM kb_source s WHERE s.id = f.id
      AND s.state IN ('queued', 'reading', 'embedding'))`,
  sql`DELETE FROM turn_ticket t WHERE at < now() - interval '1 minute'
    AND NOT EXISTS (SELECT 1 FROM replica r WHERE r.id = t.replica)`,
]

interface WindowRow {
  readonly used: number
  readonly ms_left: number
}

/**
 * Windows that all servers of a database count in, by the database's clock. An event over the limit
 * writes nothing.
 */
const createSharedWindows =
  (db: Pick<Db, 'get'>): OpenWindows =>
  (name, windowMs) => {
    const read = (subject: string) =>
      db.get<WindowRow>(sql`
        SELECT used, extract(epoch FROM ends_at - now()) * 1000 AS ms_left FROM rate_window
        WHERE name = ${name} AND subject = ${subject} AND ends_at > now()`)

    async function look(subject: string, limit: number): Promise<Standing> {
      const { used, ms_left } = (await read(subject)) ?? { used: 0, ms_left: windowMs }
      return { counted: used < limit, used, msLeft: ms_left }
    }

    return {
      look,

      async count(subject, limit) {
        const row = await db.get<WindowRow>(sql`
          INSERT INTO rate_window AS w (name, subject, used, ends_at)
          VALUES (${name}, ${subject}, 1, now() + ${windowMs} * interval '1 millisecond')
          ON CONFLICT (name, subject) DO UPDATE SET
            used = CASE WHEN w.ends_at > now() THEN w.used + 1 ELSE 1 END,
            ends_at = CASE WHEN w.ends_at > now() THEN w.ends_at ELSE excluded.ends_at END
          WHERE w.ends_at <= now() OR w.used < ${limit}
          RETURNING used, extract(epoch FROM ends_at - now()) * 1000 AS ms_left`)
        if (row) return { counted: true, used: row.used, msLeft: row.ms_left }
        return { ...(await look(subject, limit)), counted: false }
      },

      async giveBack(subject) {
        await db.get(sql`
          UPDATE rate_window SET used = used - 1
          WHERE name = ${name} AND subject = ${subject} AND used > 0 AND ends_at > now()`)
      },
    }
  }

interface CodeRow {
  readonly value: string
}

/** Codes that all servers of a database share, each taken once; they expire by its clock. */
const createSharedCodes =
  (db: Pick<Db, 'get'>): OpenCodes =>
  (kind, { ttlMs, countMax, perOwnerMax = countMax }) => {
    const textOf = (row: CodeRow | null) => row?.value ?? null

    /**
     * Removes the oldest code of the owner with the most. Simultaneous calls may remove the same
     * one; the next call removes what is then too many.
     */
    const makeRoom = () =>
      db.get(sql`
        DELETE FROM one_time_code WHERE kind = ${kind} AND name IN (
          SELECT name FROM one_time_code WHERE kind = ${kind} AND owner = (
            SELECT owner FROM one_time_code WHERE kind = ${kind}
            GROUP BY owner ORDER BY count(*) DESC LIMIT 1)
          ORDER BY ends_at LIMIT greatest(0, 1 - ${countMax} + (
            SELECT count(*) FROM one_time_code WHERE kind = ${kind})))`)

    const makeRoomOf = (owner: string) =>
      db.get(sql`
        DELETE FROM one_time_code WHERE kind = ${kind} AND name IN (
          SELECT name FROM one_time_code WHERE kind = ${kind} AND owner = ${owner}
          ORDER BY ends_at DESC OFFSET ${perOwnerMax - 1})`)

    return {
      async put(name, value, owner = '') {
        if (perOwnerMax < countMax) await makeRoomOf(owner)
        await makeRoom()
        await db.get(sql`
          INSERT INTO one_time_code (kind, name, value, owner, tries, ends_at)
          VALUES (${kind}, ${name}, ${value}, ${owner}, 0,
            now() + ${ttlMs} * interval '1 millisecond')
          ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value, owner = excluded.owner,
            tries = 0, ends_at = excluded.ends_at`)
      },

      read: async (name) =>
        textOf(
          await db.get<CodeRow>(sql`
            SELECT value FROM one_time_code
            WHERE kind = ${kind} AND name = ${name} AND ends_at > now()`),
        ),

      take: async (name) =>
        textOf(
          await db.get<CodeRow>(sql`
            DELETE FROM one_time_code
            WHERE kind = ${kind} AND name = ${name} AND ends_at > now() RETURNING value`),
        ),

      attempt: async (name, triesMax) =>
        textOf(
          await db.get<CodeRow>(sql`
            UPDATE one_time_code SET tries = tries + 1
            WHERE kind = ${kind} AND name = ${name} AND ends_at > now() AND tries < ${triesMax}
            RETURNING value`),
        ),
    }
  }

/** A piece is sent as hex of twice its size, and encoding it must not hold the event loop. */
const PIECE_BYTES = 256 * 1024

/** Files in the database, until they have been processed. */
export function createSharedFiles(db: Pick<Db, 'get'>): SharedFiles {
  const piece = (id: string, number: number) =>
    db.get<{ bytes: Uint8Array }>(
      sql`SELECT bytes FROM shared_file WHERE id = ${id} AND piece = ${number}`,
    )

  async function* pieces(id: string, first: Uint8Array) {
    yield first
    for (let number = 1; ; number++) {
      const next = await piece(id, number)
      if (!next) return
      yield next.bytes
    }
  }

  return {
    async keep(id, bytes) {
      // The first piece is written last: once it is there, the file is whole.
      for (let number = Math.ceil(bytes.length / PIECE_BYTES) - 1; number >= 0; number--) {
        const part = bytes.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES)
        await db.get(sql`
          INSERT INTO shared_file (id, piece, bytes, at)
          VALUES (${id}, ${number}, ${part}, now())`)
      }
    },

    async fetch(id) {
      const first = await piece(id, 0)
      return first && pieces(id, first.bytes)
    },

    async remove(id) {
      await db.get(sql`DELETE FROM shared_file WHERE id = ${id}`)
    },
  }
}
