import { type Clock, DAY_MS } from '../../../core/clock.ts'
import { USAGE_DAYS } from '../../../core/limits/contract.ts'
import { type Db, locked, sql } from '../../../storage/db.ts'

/** Passages of a document were shown to a turn. `day` is days since the epoch. */
export interface Citation {
  readonly tenantId: string
  readonly docId: string
  readonly day: number
  count: number
}

export const keyOfCitation = ({ docId, day }: Citation): string => `${docId}/${day}`

export function addCitations(sum: Citation, more: Citation): void {
  sum.count += more.count
}

const today = (clock: Pick<Clock, 'now'>) => Math.floor(clock.now() / DAY_MS)

/** The first of the days that a list of documents reports on. */
export const firstCitedDay = (clock: Pick<Clock, 'now'>): number => today(clock) - USAGE_DAYS + 1

/** Adds to the stored counts; a document that was deleted meanwhile has none. */
export const createCitationWrite =
  (db: Db) =>
  async (citations: readonly Citation[]): Promise<void> => {
    await db.batch(
      citations.map(
        ({ tenantId, docId, day, count }) =>
          // As sums of usage: several servers add to the same rows.
          locked('kb_citation')`
          INSERT INTO kb_citation (doc_num, day, count)
          SELECT num, ${day}, ${count} FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${docId}
          ON CONFLICT (doc_num, day) DO UPDATE SET count = kb_citation.count + excluded.count`,
      ),
    )
  }

/** Deletes the counts of days that no list reports on, up to 1,000 rows at a time. */
export const createCitationPrune = (db: Db, clock: Pick<Clock, 'now'>) => async () => {
  for (let changes = 1; changes > 0; ) {
    // No lock: a day that is over stays so.
    const pruned = await db.run(sql`
      DELETE FROM kb_citation WHERE (doc_num, day) IN (SELECT doc_num, day FROM kb_citation
        WHERE day < ${firstCitedDay(clock)} LIMIT 1000)`)
    changes = pruned.changes
  }
}

/** Counts each document of `passages` once. */
export const countCitations =
  (clock: Pick<Clock, 'now'>, sums: { add(citation: Citation): void }) =>
  (tenantId: string, passages: readonly { readonly doc_id: string }[]): void => {
    for (const docId of new Set(passages.map(({ doc_id }) => doc_id))) {
      sums.add({ tenantId, docId, day: today(clock), count: 1 })
    }
  }
