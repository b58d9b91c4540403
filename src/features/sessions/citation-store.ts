import { type Clock, DAY_MS } from '../../core/clock.ts'
import { USAGE_DAYS } from '../../core/limits/contract.ts'
import { firstChars } from '../../core/text.ts'
import { type Reader, sql } from '../../storage/db.ts'
import { inScope, type Scope } from './access.ts'
import type { KbCitation, TurnDetails } from './model.ts'

/** Characters of a question that a list shows. */
const QUESTION_CHARS = 200
const CITATIONS_SHOWN_MAX = 20

interface CitingRow {
  readonly session_id: string
  readonly seq: number
  readonly user_text: string
  readonly created_at: string
  readonly details: string
}

/**
 * The turns that were shown passages of a document, newest first: of the days in which its
 * citations are counted, and in conversations that the caller sees.
 */
export const createCitations =
  (reader: Reader, clock: Pick<Clock, 'now'>) =>
  async (scope: Scope, docId: string, signal?: AbortSignal): Promise<KbCitation[]> => {
    // Days are counted whole, in UTC.
    const first = (Math.floor(clock.now() / DAY_MS) - USAGE_DAYS + 1) * DAY_MS
    const since = new Date(first).toISOString()
    const shown = inScope(scope)
    const holds = sql`AND session.last_at >= ${since} AND t.created_at >= ${since}
      AND t.details LIKE ${`%"doc_id":"${docId}"%`}
      ORDER BY t.created_at DESC, t.session_id, t.seq DESC LIMIT ${CITATIONS_SHOWN_MAX}`
    const rows = await reader.all<CitingRow>(
      scope.tenantId,
      {
        sql: `SELECT t.session_id, t.seq, t.user_text, t.created_at, t.details FROM session
          JOIN turn t ON t.tenant_id = session.tenant_id AND t.session_id = session.id
          WHERE ${shown.sql} ${holds.sql}`,
        args: [...shown.args, ...holds.args],
      },
      signal,
    )
    return rows.map(({ details, user_text, ...row }) => ({
      ...row,
      question: firstChars(user_text, QUESTION_CHARS),
      passages: passagesOf(JSON.parse(details) as TurnDetails, docId),
    }))
  }

export type Citations = ReturnType<typeof createCitations>

const passagesOf = ({ kb_refs }: TurnDetails, docId: string): number[] =>
  kb_refs
    .filter(({ doc_id }) => doc_id === docId)
    .map(({ seq }) => seq)
    .toSorted((a, b) => a - b)
