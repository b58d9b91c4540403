import type { Clock } from '../../core/clock.ts'
import { sha256Hex } from '../../core/crypto.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { type Db, expectRows, type Statement, sql } from '../db.ts'
import type { TurnOrder } from '../shared-state.ts'
import type { Notifier } from './notifier.ts'

export interface TurnOrderOptions {
  readonly db: Pick<Db, 'get' | 'all'>
  /** The id of this server. */
  readonly replica: string
  readonly notifier: Notifier
  readonly clock: Clock
  readonly log: Logger
}

/** A server that was silent for this long counts as dead, and its tickets are void. */
const SILENT_MS = 20_000
export const LIVE_SERVERS = sql`
  SELECT id FROM replica WHERE seen_at > now() - ${SILENT_MS} * interval '1 millisecond'`
/** How often a waiting turn looks at the database without being woken. */
const LOOK_MS = 250
/** A ticket older than this that no turn of this server holds belongs to a turn that is over. */
const ORPHAN_MS = 10_000

interface Ticket {
  readonly tenantId: string
  readonly sessionId: string
  readonly number: number
}

/**
 * Turns of a session take tickets, whichever server they come to, and the one with the smallest
 * runs. The transaction that stores a turn deletes its ticket first, so a turn whose server was
 * taken for dead, and whose ticket others have deleted, is not stored.
 */
export function createTurnOrder(options: TurnOrderOptions) {
  const { db, replica, notifier, clock, log } = options
  /** Turns of this server take their tickets one after another, so tickets have their order. */
  const taking = createSemaphore({ perKey: 1 })
  /** Only the first of the waiting turns of a session on this server looks at the database. */
  const asking = createSemaphore({ perKey: 1 })
  const held = new Set<number>()
  const listeners: ((tenantId: string, sessionId: string) => Promise<void>)[] = []

  /**
   * The lock is held until the row is visible to all, so a turn that finds no smaller ticket than
   * its own finds none later.
   */
  async function take(tenantId: string, sessionId: string): Promise<Ticket> {
    const row = await db.get<{ ticket: number }>(sql`
      INSERT INTO turn_ticket (tenant_id, session_id, ticket, replica, at)
      SELECT ${tenantId}, ${sessionId}, nextval('turn_ticket_number'), ${replica}, clock_timestamp()
      FROM pg_advisory_xact_lock(hashtextextended(${`${tenantId}/${sessionId}`}, 0)) AS locked
      RETURNING ticket`)
    if (!row) throw new Error('no ticket was given')
    held.add(row.ticket)
    return { tenantId, sessionId, number: row.ticket }
  }

  /** Deletes tickets of dead servers; true when no turn is before this one. */
  async function isNext({ tenantId, sessionId, number }: Ticket): Promise<boolean> {
    const ahead = await db.get<{ live: number; all: number }>(sql`
      SELECT count(*) AS all, count(*) FILTER (
        WHERE greatest(t.at, r.seen_at) > now() - ${SILENT_MS} * interval '1 millisecond') AS live
      FROM turn_ticket t LEFT JOIN replica r ON r.id = t.replica
      WHERE t.tenant_id = ${tenantId} AND t.session_id = ${sessionId} AND t.ticket < ${number}`)
    if (!ahead || ahead.all === 0) return true
    if (ahead.live > 0) return false
    const dead = await db.all<{ replica: string }>(sql`
      DELETE FROM turn_ticket t
      WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND ticket < ${number}
        AND at <= now() - ${SILENT_MS} * interval '1 millisecond'
        AND NOT EXISTS (SELECT 1 FROM replica r WHERE r.id = t.replica
          AND r.seen_at > now() - ${SILENT_MS} * interval '1 millisecond')
      RETURNING replica`)
    if (dead.length > 0) {
      log.warn('turns of a silent server given up', { turns: dead.length })
      for (const listener of listeners) await listener(tenantId, sessionId)
    }
    return isNext({ tenantId, sessionId, number })
  }

  async function untilNext(ticket: Ticket, word: string, signal: AbortSignal): Promise<void> {
    while (!(await isNext(ticket))) {
      const woken = new AbortController()
      const stop = notifier.on(word, () => woken.abort())
      await clock.sleep(LOOK_MS, AbortSignal.any([signal, woken.signal])).catch(() => {})
      stop()
      signal.throwIfAborted()
    }
  }

  async function giveBack(ticket: Ticket, word: string): Promise<void> {
    held.delete(ticket.number)
    // When this fails, the ticket is deleted later as an orphan.
    await db
      .get(deletion(ticket))
      .catch((error) => log.warn('ticket not given back', errorFields(error)))
    notifier.notify(word)
  }

  const turnOrder: TurnOrder = {
    onGivenUp: (listener) => void listeners.push(listener),

    async run(tenantId, sessionId, work, signal) {
      const session = `${tenantId}/${sessionId}`
      const word = sha256Hex(session).slice(0, 16)
      const ticket = await taking.run(session, () => take(tenantId, sessionId), signal)
      let release = () => {}
      try {
        release = await asking.acquire(session, signal)
        await untilNext(ticket, word, signal)
        return await work([expectRows(1, deletion(ticket))])
      } finally {
        // Not awaited: a database that is away must not delay the answer.
        void giveBack(ticket, word).finally(release)
      }
    },
  }

  return {
    ...turnOrder,

    /** Deletes tickets that this server no longer holds. To be called every few seconds. */
    async deleteOrphans(): Promise<void> {
      await db.get(sql`
        DELETE FROM turn_ticket WHERE replica = ${replica}
          AND at < now() - ${ORPHAN_MS} * interval '1 millisecond'
          AND ticket <> ALL(string_to_array(${[...held].join(',')}, ',')::bigint[])`)
    },

    /** Called when the server stops, so that other servers do not wait for its turns. */
    async close(): Promise<void> {
      await db.get(sql`DELETE FROM turn_ticket WHERE replica = ${replica}`)
    },
  }
}

const deletion = ({ tenantId, sessionId, number }: Ticket): Statement => sql`
  DELETE FROM turn_ticket
  WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND ticket = ${number}`
