import { type Db, type Reader, type Statement, sql } from '../../storage/db.ts'
import type { SearchTerm } from './conversation-search.ts'

/** A conversation, and the texts from which its title is made. */
export interface ConversationRow {
  readonly id: string
  /** The title that a person gave; null when there is none. */
  readonly named: string | null
  /** The start of the first text that is kept. */
  readonly first_text: string | null
  readonly turn_count: number
  readonly last_at: string
  readonly app_id: string | null
  readonly device_id: string | null
  /** Numbers of the first and the last turn that are kept. */
  readonly first_seq: number | null
  readonly last_seq: number | null
}

/** Some turns of a conversation, by their numbers. */
export interface TurnRange {
  readonly id: string
  readonly from: number
  readonly to: number
}

/** A position in the list, which is ordered by last activity, newest first, and then by id. */
export interface ListPosition {
  readonly lastAt: string
  /** Null for the position after all conversations of this time. */
  readonly id: string | null
}

/** More than a title shows, because a title drops blanks. */
const FIRST_TEXT_CHARS = 400

const TURNS = 'FROM turn t WHERE t.tenant_id = s.tenant_id AND t.session_id = s.id'

const COLUMNS = `s.id, s.title AS named, s.turn_count, s.last_at, s.app_id, s.device_id,
  (SELECT min(t.seq) ${TURNS}) AS first_seq, (SELECT max(t.seq) ${TURNS}) AS last_seq,
  (SELECT substr(t.user_text, 1, ${FIRST_TEXT_CHARS}) ${TURNS}
    ORDER BY t.seq LIMIT 1) AS first_text`

/** The conversations after a place, in order. */
const after = (tenantId: string, place: ListPosition | null, limit: number): Statement => ({
  sql: `SELECT * FROM session WHERE tenant_id = ?
    AND last_at <= ? AND (last_at < ? OR id > ?) ORDER BY last_at DESC, id LIMIT ?`,
  args: [tenantId, place?.lastAt ?? '~', place?.lastAt ?? '~', place?.id ?? null, limit],
})

/** Whether one of the texts holds the term. */
function holds(term: SearchTerm, texts: readonly string[]): Statement {
  const args: string[] = []
  const either = texts.map((text) => {
    const likes = term.likes.map((like) => {
      args.push(like)
      return `${text} LIKE ?`
    })
    if (term.glob === null) return likes.join(' OR ')
    args.push(term.glob)
    return `((${likes.join(' OR ')}) AND glob(?, '\n' || ${text}))`
  })
  return { sql: `(${either.join(' OR ')})`, args }
}

/** Whether the title or the part of the conversation holds the term. */
function contains(term: SearchTerm): Statement {
  const title = holds(term, ['s.title'])
  const turn = holds(term, ['t.user_text', 't.reply'])
  return {
    sql: `CASE WHEN ${title.sql} OR EXISTS (SELECT 1 ${TURNS}
      AND t.seq BETWEEN part.first AND part.last AND ${turn.sql}) THEN '1' ELSE '0' END`,
    args: [...title.args, ...turn.args],
  }
}

/** The texts of a turn that a search found. */
export interface FoundTurn {
  readonly seq: number
  readonly user_text: string
  readonly reply: string
  /** How many of the terms it holds. */
  readonly held: number
}

/** Lists and searches conversations. `reader` runs the searches, which scan the texts of turns. */
export function createConversationStore(db: Db, reader: Reader) {
  return {
    /** The conversations after a place, or the first ones. */
    list(tenantId: string, place: ListPosition | null, limit: number): Promise<ConversationRow[]> {
      const page = after(tenantId, place, limit)
      return db.all<ConversationRow>({
        sql: `SELECT ${COLUMNS} FROM (${page.sql}) s ORDER BY s.last_at DESC, s.id`,
        args: page.args,
      })
    },

    /** Which terms, by index, the parts or the titles of their conversations hold. */
    async termsIn(
      tenantId: string,
      terms: readonly SearchTerm[],
      parts: readonly TurnRange[],
      signal?: AbortSignal,
    ): Promise<{ id: string; places: number[] }[]> {
      const each = terms.map(contains)
      const rows = await reader.all<{ id: string; found: string }>(
        tenantId,
        {
          sql: `WITH part AS (SELECT value ->> 'id' AS id,
              CAST(value ->> 'from' AS BIGINT) AS first, CAST(value ->> 'to' AS BIGINT) AS last
              FROM json_each(?))
            SELECT s.id, ${each.map((one) => one.sql).join(' || ')} AS found
            FROM part CROSS JOIN session s WHERE s.tenant_id = ? AND s.id = part.id`,
          args: [JSON.stringify(parts), ...each.flatMap((one) => one.args), tenantId],
        },
        signal,
      )
      return rows.map(({ id, found }) => ({
        id,
        places: [...found].flatMap((is, place) => (is === '1' ? [place] : [])),
      }))
    },

    /**
     * The turn of a part that holds most terms, the newest of several; null when none holds any.
     */
    async turnIn(
      tenantId: string,
      terms: readonly SearchTerm[],
      { id, from, to }: TurnRange,
      signal?: AbortSignal,
    ): Promise<FoundTurn | null> {
      const each = terms.map((term) => holds(term, ['t.user_text', 't.reply']))
      const held = each.map((one) => `CASE WHEN ${one.sql} THEN 1 ELSE 0 END`).join(' + ')
      const rows = await reader.all<FoundTurn>(
        tenantId,
        {
          sql: `SELECT * FROM (
              SELECT t.seq, t.user_text, t.reply, ${held} AS held FROM turn t
              WHERE t.tenant_id = ? AND t.session_id = ? AND t.seq BETWEEN ? AND ?
            ) found WHERE held > 0 ORDER BY held DESC, seq DESC LIMIT 1`,
          args: [...each.flatMap(({ args = [] }) => args), tenantId, id, from, to],
        },
        signal,
      )
      return rows[0] ?? null
    },

    /** Null for a session that was never used. */
    read: (tenantId: string, id: string) =>
      db.get<ConversationRow>({
        sql: `SELECT ${COLUMNS} FROM session s WHERE s.tenant_id = ? AND s.id = ?`,
        args: [tenantId, id],
      }),

    /** Sets the title; null removes it. */
    async rename(tenantId: string, id: string, title: string | null): Promise<void> {
      await db.run(
        sql`UPDATE session SET title = ${title} WHERE tenant_id = ${tenantId} AND id = ${id}`,
      )
    },
  }
}

export type ConversationStore = ReturnType<typeof createConversationStore>

/** A turn as it was said, with its details as JSON. */
export interface KeptTurn {
  readonly seq: number
  readonly user_text: string
  readonly reply: string
  readonly created_at: string
  readonly details: string | null
}

/** All turns of sessions, including folded ones. */
export function createTranscriptStore(db: Db) {
  return {
    /**
     * Numbers of the turns before `before`, newest first. With an app: only turns that it answered,
     * and only when it answered the session last.
     */
    async numbers(
      tenantId: string,
      id: string,
      { appId, before, limit }: { appId: string | null; before: number; limit: number },
    ): Promise<number[]> {
      const rows = await db.all<{ seq: number }>(sql`
        SELECT t.seq FROM session s
          JOIN turn t ON t.tenant_id = s.tenant_id AND t.session_id = s.id
        WHERE s.tenant_id = ${tenantId} AND s.id = ${id} AND t.seq < ${before}
          AND (CAST(${appId} AS TEXT) IS NULL OR (s.app_id = ${appId} AND t.app_id = ${appId}))
        ORDER BY t.seq DESC LIMIT ${limit}`)
      return rows.map(({ seq }) => seq)
    },

    /** Null when the turn no longer exists. */
    turn: (tenantId: string, id: string, seq: number) =>
      db.get<KeptTurn>(sql`
        SELECT seq, user_text, reply, created_at, details FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${id} AND seq = ${seq}`),
  }
}

export type TranscriptStore = ReturnType<typeof createTranscriptStore>
