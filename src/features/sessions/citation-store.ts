import { type Clock, DAY_MS } from '../../core/clock.ts'
import { USAGE_DAYS } from '../../core/limits/contract.ts'
import {
  CITATION_SESSIONS_AT_ONCE,
  CITATION_TURNS_AT_ONCE,
  CITATION_TURNS_MAX,
} from '../../core/limits/machine.ts'
import { firstChars } from '../../core/text.ts'
import { joined, type Reader, type Statement, sql, textRows } from '../../storage/db.ts'
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

interface ActiveSession {
  readonly id: string
  readonly last_at: string
  readonly turn_count: number
}

/** What one list may read. */
export interface CitationBounds {
  /** Turns that one statement reads, and the sessions that are looked for at once. */
  readonly turnsAtOnce: number
  readonly sessionsAtOnce: number
  readonly turnsMax: number
}

const BOUNDS: CitationBounds = {
  turnsAtOnce: CITATION_TURNS_AT_ONCE,
  sessionsAtOnce: CITATION_SESSIONS_AT_ONCE,
  turnsMax: CITATION_TURNS_MAX,
}

/**
 * The turns that were shown passages of a document, newest first: of the days in which its
 * citations are counted, and in conversations that the caller sees. The conversations with the
 * newest turns are read first, up to `turnsMax` turns: in a tenant with more, older citations are
 * missing.
 */
export const createCitations =
  (reader: Reader, clock: Pick<Clock, 'now'>, bounds: CitationBounds = BOUNDS) =>
  async (scope: Scope, docId: string, signal?: AbortSignal): Promise<KbCitation[]> => {
    // Days are counted whole, in UTC.
    const first = (Math.floor(clock.now() / DAY_MS) - USAGE_DAYS + 1) * DAY_MS
    const since = new Date(first).toISOString()
    const { tenantId } = scope
    let found: CitingRow[] = []
    let read = 0
    for await (const group of activeSessions(reader, scope, since, bounds, signal)) {
      // Of these and all that follow no turn is newer than the newest one of the first.
      const oldest = found[CITATIONS_SHOWN_MAX - 1]
      if (oldest && oldest.created_at > (group[0]?.last_at ?? '')) break
      const rows = await reader.all<CitingRow>(
        tenantId,
        citing(tenantId, group, docId, since),
        signal,
      )
      found = [...found, ...rows].sort(newestFirst).slice(0, CITATIONS_SHOWN_MAX)
      read += turnsOf(group)
      if (read >= bounds.turnsMax) break
    }
    return found.map(({ details, user_text, ...row }) => ({
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

const turnsOf = (sessions: readonly ActiveSession[]): number =>
  sessions.reduce((sum, { turn_count }) => sum + turn_count, 0)

const newestFirst = (a: CitingRow, b: CitingRow): number => {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? 1 : -1
  if (a.session_id !== b.session_id) return a.session_id < b.session_id ? -1 : 1
  return b.seq - a.seq
}

/** The sessions that were used since then, newest first, in groups of at most so many turns. */
async function* activeSessions(
  reader: Reader,
  scope: Scope,
  since: string,
  { turnsAtOnce, sessionsAtOnce }: CitationBounds,
  signal?: AbortSignal,
): AsyncGenerator<ActiveSession[]> {
  const shown = inScope(scope)
  let last: ActiveSession | null = null
  for (;;) {
    const after: Statement = last
      ? sql`AND (session.last_at < ${last.last_at}
          OR (session.last_at = ${last.last_at} AND session.id > ${last.id}))`
      : sql``
    const page: ActiveSession[] = await reader.all<ActiveSession>(
      scope.tenantId,
      joined(
        sql`SELECT id, last_at, turn_count FROM session WHERE`,
        shown,
        sql`AND session.last_at >= ${since}`,
        after,
        sql`ORDER BY session.last_at DESC, session.id LIMIT ${sessionsAtOnce}`,
      ),
      signal,
    )
    let group: ActiveSession[] = []
    for (const session of page) {
      if (group.length > 0 && turnsOf(group) + session.turn_count > turnsAtOnce) {
        yield group
        group = []
      }
      group.push(session)
    }
    if (group.length > 0) yield group
    last = page.length === sessionsAtOnce ? (page.at(-1) ?? null) : null
    if (last === null) return
  }
}

function citing(
  tenantId: string,
  sessions: readonly ActiveSession[],
  docId: string,
  since: string,
): Statement {
  const ids = textRows(sessions.map(({ id }) => id))
  return sql`SELECT t.session_id, t.seq, t.user_text, t.created_at, t.details
    FROM json_each(${ids}) s JOIN turn t ON t.tenant_id = ${tenantId}
      AND t.session_id = s.value ->> 0
    WHERE t.created_at >= ${since} AND t.details LIKE ${`%"doc_id":"${docId}"%`}
    ORDER BY t.created_at DESC, t.session_id, t.seq DESC LIMIT ${CITATIONS_SHOWN_MAX}`
}
