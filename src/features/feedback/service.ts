import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newIdAt } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { personGiver } from '../../core/rating.ts'
import type { Outbox } from '../webhooks/outbox.ts'
import type { FeedbackGiven, FeedbackRequest, FeedbackResponse } from './model.ts'
import type {
  FeedbackCount,
  FeedbackFilter,
  FeedbackPage,
  FeedbackStore,
  NewFeedback,
} from './store.ts'

export interface FeedbackOptions {
  readonly store: FeedbackStore
  readonly clock: Pick<Clock, 'now'>
  /** Whether a session exists for the caller. */
  readonly isSeen: (principal: Principal, sessionId: string) => Promise<boolean>
  readonly outbox: Pick<Outbox, 'telling' | 'sent'>
}

const missing = () => appError('not_found', { what: 'turn' })

/** One for each person, key and visitor; visitors are told apart by their sessions. */
function giverOf({ userId, keyId }: Principal): string {
  if (userId !== null) return personGiver(userId)
  return keyId === null ? 'visitor' : `key ${keyId}`
}

/** What people, keys and visitors think of answers. */
export function createFeedback({ store, clock, isSeen, outbox }: FeedbackOptions) {
  /** Keeps a thumb, and tells of one that is down now in the same transaction. */
  async function put(given: NewFeedback): Promise<boolean> {
    const { tenantId, sessionId: session_id, seq, rating, reason } = given
    if (rating > 0) return store.put(given)
    const data = { session_id, seq, app_id: await store.appOf(given), reason }
    const told = await outbox.telling(tenantId, 'feedback.down', data, store.isNotDown(given))
    if (!(await store.put(given, told))) return false
    if (told.length > 0) outbox.sent(tenantId)
    return true
  }

  return {
    /**
     * Keeps the one thumb of the caller for a turn; a rating of 0 takes it back. Throws `not_found`
     * for a turn that the caller cannot read; a key of an app reads the answers of its app.
     */
    async give(
      principal: Principal,
      sessionId: string,
      turn: string | number,
      { rating, reason, text, share }: FeedbackRequest,
    ): Promise<FeedbackGiven> {
      const { tenantId } = principal
      const seq = /^[1-9]\d{0,14}$/.test(String(turn)) ? Number(turn) : 0
      if (!(await isSeen(principal, sessionId))) throw missing()
      const ts = clock.now()
      const given = {
        id: newIdAt(ts),
        tenantId,
        sessionId,
        seq,
        giver: giverOf(principal),
        appId: principal.kind === 'app' ? principal.appId : null,
        rating,
        reason,
        text,
        shared: share,
        ts,
      }
      const isThere = await (rating === 0 ? store.hasTurn(given) : put(given))
      if (!isThere) throw missing()
      if (rating === 0) await store.remove(given)
      return { seq, rating }
    },

    /**
     * Counts of all that match, and the newest of them by `page`. Rejects with the signal's reason
     * when it aborts before they are read.
     */
    async list(
      filter: FeedbackFilter,
      page: FeedbackPage,
      signal: AbortSignal,
    ): Promise<FeedbackResponse> {
      const [counts, rows] = await Promise.all([
        store.counts(filter, signal),
        store.items(filter, { ...page, limit: page.limit + 1 }, signal),
      ])
      const shown = rows.slice(0, page.limit)
      const days = [...Map.groupBy(counts, ({ day }) => day)].sort(([a], [b]) => b - a)
      return {
        ...sumOf(counts),
        by_app: [...Map.groupBy(counts, ({ app_id }) => app_id)]
          .map(([app_id, some]) => ({ app_id, ...sumOf(some) }))
          .sort((a, b) => b.down - a.down || b.up - a.up),
        by_day: days.map(([day, some]) => ({ day: isoDay(day), ...sumOf(some) })),
        items: shown.map(({ ts, ...row }) => ({ ...row, ts: new Date(ts).toISOString() })),
        next_before: rows.length > page.limit ? (shown.at(-1)?.id ?? null) : null,
      }
    },
  }
}

export type Feedback = ReturnType<typeof createFeedback>

const isoDay = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

function sumOf(counts: readonly FeedbackCount[]): { up: number; down: number } {
  const sum = { up: 0, down: 0 }
  for (const { up, down } of counts) {
    sum.up += up
    sum.down += down
  }
  return sum
}
