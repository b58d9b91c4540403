import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { type Db, sql } from '../db.ts'
import type { Notifier } from './notifier.ts'

export interface AnnouncerOptions {
  readonly db: Pick<Db, 'get' | 'all'>
  /** The id of this server. */
  readonly replica: string
  readonly notifier: Notifier
  readonly clock: Clock
  readonly log: Logger
}

interface Row {
  readonly id: number
  readonly topic: string
  readonly subject: string
}

const WORD = 'announced'
/** How often a server reads announcements without a notification. */
const LOOK_MS = 500
/** A row may become visible this long after rows with greater numbers. */
const LATE_MS = 10_000

/**
 * Announcements are rows that every server polls, so a lost notification only delays them. A hearer
 * that fails is called again at each look until it succeeds.
 */
export function createAnnouncer({ db, replica, notifier, clock, log }: AnnouncerOptions) {
  const hearers = new Map<string, (subject: string) => Promise<unknown>>()
  let seen = new Set<number>()
  /** What no hearer has done yet, the latest of each topic and subject. */
  const open = new Map<string, { readonly row: Row; failed: boolean }>()
  let lookedAt = clock.steady()
  let looking: Promise<void> | null = null
  let again = false

  async function look(): Promise<void> {
    const now = clock.steady()
    const rows = await db.all<Row>(sql`
      SELECT id, topic, subject FROM announcement
      WHERE at > now() - ${Math.ceil(now - lookedAt) + LATE_MS} * interval '1 millisecond'
        AND replica <> ${replica} ORDER BY id`)
    lookedAt = now
    for (const row of rows) {
      if (!seen.has(row.id)) open.set(`${row.topic} ${row.subject}`, { row, failed: false })
    }
    seen = new Set(rows.map(({ id }) => id))
    await Promise.all([...open.keys()].map(hear))
  }

  async function hear(name: string): Promise<void> {
    const one = open.get(name)
    if (!one) return
    const { topic, subject } = one.row
    try {
      await hearers.get(topic)?.(subject)
      open.delete(name)
    } catch (error) {
      if (!one.failed) log.warn('announcement not acted on', { topic, ...errorFields(error) })
      one.failed = true
    }
  }

  /** Runs one `look` at a time, and one more when it is called meanwhile. */
  function lookSoon(): void {
    again = looking !== null
    looking ??= look()
      .catch((error) => log.warn('announcements not read', errorFields(error)))
      .finally(() => {
        looking = null
        if (again) lookSoon()
      })
  }

  const stops = [clock.every(LOOK_MS, lookSoon), notifier.on(WORD, lookSoon)]

  return {
    /** As `Announcer`, also for topics of these tables. */
    async announce(topic: string, subject: string): Promise<void> {
      await db.get(sql`
        INSERT INTO announcement (topic, subject, replica, at)
        VALUES (${topic}, ${subject}, ${replica}, now())`)
      notifier.notify(WORD)
    },
    on(topic: string, hear: (subject: string) => Promise<unknown>): void {
      hearers.set(topic, hear)
    },
    async close(): Promise<void> {
      for (const stop of stops) stop()
      again = false
      await looking
    },
  }
}

export type SharedAnnouncer = ReturnType<typeof createAnnouncer>
