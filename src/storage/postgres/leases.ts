import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type Db, type Statement, sql } from '../db.ts'
import type { Lease, Leases } from '../shared-state.ts'
import type { SharedAnnouncer } from './announcer.ts'
import { LIVE_SERVERS } from './turn-order.ts'

export interface LeasesOptions {
  readonly db: Pick<Db, 'get' | 'all'>
  /** The id of this server. */
  readonly replica: string
  readonly announcer: Pick<SharedAnnouncer, 'announce' | 'on'>
  readonly clock: Pick<Clock, 'steady'>
  readonly log: Logger
}

/** A lease that is not renewed for this long is free for others. */
const LEASE_MS = 60_000
const SEIZED = 'seized'

interface Held {
  readonly name: string
  readonly onLost: () => void
}

/**
 * Leases as rows. One statement takes a free name; a second server finds it taken at once, because
 * no lock is held while work is done.
 */
export function createLeases({ db, replica, announcer, clock, log }: LeasesOptions) {
  const held = new Map<string, Held>()
  let count = 0
  let renewedAt = clock.steady()

  const nextHolder = () => `${replica}/${++count}`

  async function release(name: string, holder: string): Promise<void> {
    held.delete(holder)
    await db
      .get(sql`DELETE FROM lease WHERE name = ${name} AND holder = ${holder}`)
      .catch((error) => log.warn('lease not released', errorFields(error)))
  }

  function onLost(holder: string): void {
    const lease = held.get(holder)
    held.delete(holder)
    lease?.onLost()
  }

  /** Renews the leases of this server, and reports those that others have taken over. */
  async function renew(): Promise<void> {
    const holders = [...held.keys()]
    if (holders.length === 0) return
    const kept = await db.all<{ holder: string }>(sql`
      UPDATE lease SET ends_at = now() + ${LEASE_MS} * interval '1 millisecond'
      WHERE holder = ANY(string_to_array(${holders.join(' ')}, ' ')) RETURNING holder`)
    renewedAt = clock.steady()
    const there = new Set(kept.map(({ holder }) => holder))
    for (const holder of holders) if (!there.has(holder)) onLost(holder)
  }

  announcer.on(SEIZED, renew)

  const leases: Leases = {
    async hold(name, signal, work) {
      const holder = nextHolder()
      if ((await db.get(claim(name, holder))) === null) return false
      const lost = new AbortController()
      const onLost = () => lost.abort(new Error('another server does this now'))
      held.set(holder, { name, onLost })
      try {
        await work(AbortSignal.any([signal, lost.signal]))
      } finally {
        await release(name, holder)
      }
      return true
    },

    seize(name: string, onLost: () => void): Lease {
      const holder = nextHolder()
      const seized = db
        .get(seizure(name, holder))
        .then(() => {
          held.set(holder, { name, onLost })
          return announcer.announce(SEIZED, name)
        })
        .catch((error) => log.warn('lease not seized', errorFields(error)))
      return {
        async release() {
          await seized
          await release(name, holder)
        },
      }
    },

    async heldElsewhere(prefix) {
      const rows = await db.all<Row>(beginningWith(prefix))
      return rows.filter(({ holder }) => !holder.startsWith(`${replica}/`)).map(nameOf)
    },

    held: async (prefix) => (await db.all<Row>(beginningWith(prefix))).map(nameOf),

    async heldByLiving(prefix) {
      const [rows, servers] = await Promise.all([
        db.all<Row>(beginningWith(prefix)),
        db.all<{ id: string }>(LIVE_SERVERS),
      ])
      const isLiving = ({ holder }: Row) => servers.some(({ id }) => holder.startsWith(`${id}/`))
      return rows.filter(isLiving).map(nameOf)
    },
  }

  return {
    ...leases,
    /** To be called every few seconds. */
    async renew(): Promise<void> {
      try {
        await renew()
      } catch (error) {
        // After this long without the database, other servers may have taken every lease over.
        if (clock.steady() - renewedAt >= LEASE_MS) [...held.keys()].forEach(onLost)
        throw error
      }
    },
    async close(): Promise<void> {
      await Promise.all([...held].map(([holder, { name }]) => release(name, holder)))
    },
  }
}

type Row = { readonly name: string; readonly holder: string }
const nameOf = ({ name }: Row) => name

const beginningWith = (prefix: string): Statement => sql`
  SELECT name, holder FROM lease WHERE starts_with(name, ${prefix}) AND ends_at > now()`

const claim = (name: string, holder: string): Statement => sql`
  INSERT INTO lease AS l (name, holder, ends_at)
  VALUES (${name}, ${holder}, now() + ${LEASE_MS} * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
    WHERE l.ends_at <= now()
  RETURNING name`

const seizure = (name: string, holder: string): Statement => sql`
  INSERT INTO lease (name, holder, ends_at)
  VALUES (${name}, ${holder}, now() + ${LEASE_MS} * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at`
