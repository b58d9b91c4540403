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
  (db: Db, clock: Pick<Clock, 'now'>) =>
  async (citations: readonly Citation[]): Promise<void> => {
    const first = firstCitedDay(clock)
    await db.batch(
      citations.flatMap(({ tenantId, docId, day, count }) => [
        // As sums of usage: several servers add to the same rows.
        locked('kb_citation')`
        INSERT INTO kb_citation (doc_num, day, count)
        SELECT num, ${day}, ${count} FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${docId}
        ON CONFLICT (doc_num, day) DO UPDATE SET count = kb_citation.count + excluded.count`,
        // No lock: a number of a document is not used again.
        sql`
        DELETE FROM kb_citation WHERE day < ${first}
          AND doc_num = (SELECT num FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${docId})`,
      ]),
    )
  }

/** Counts each document of `passages` once. */
export const countCitations =
  (clock: Pick<Clock, 'now'>, sums: { add(citation: Citation): void }) =>
  (tenantId: string, passages: readonly { readonly doc_id: string }[]): void => {
    for (const docId of new Set(passages.map(({ doc_id }) => doc_id))) {
      sums.add({ tenantId, docId, day: today(clock), count: 1 })
    }
  }
