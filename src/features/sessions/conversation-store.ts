import { type Db, joined, type Reader, type Statement, sql, withLock } from '../../storage/db.ts'
import type { TurnIndex } from '../../storage/indexes.ts'
import { inScope, isUsed, type Scope } from './access.ts'
import { INDEXED_CHARS_MAX } from './conversation-search.ts'
import { versionIds } from './family-store.ts'
import { indexTitle } from './indexing-store.ts'
import type { ConversationRequest } from './model.ts'

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
  readonly user_id: string | null
  /** Numbers of the first and the last turn that are kept. */
  readonly first_seq: number | null
  readonly last_seq: number | null
  readonly folder: string | null
  readonly pinned: number
  readonly archived: number
}

/** Which conversations are listed. */
export interface Marks {
  /** Null: of all folders, and of none. */
  readonly folder: string | null
  /** Null: both. */
  readonly archived: boolean | null
  /** The app that answered last; null: any. */
  readonly appId: string | null
  /** The device that speaks; null: any. */
  readonly deviceId: string | null
}

/** A position in the list, which is ordered by last activity, newest first, and then by id. */
export interface ListPosition {
  readonly lastAt: string
  /** Null for the position after all conversations of this time. */
  readonly id: string | null
  /** Whether it is among the pinned ones, which come before all others. */
  readonly pinned?: boolean
}

/** More than a title shows, because a title drops blanks. */
const FIRST_TEXT_CHARS = 400

const TURNS = 'FROM turn t WHERE t.tenant_id = s.tenant_id AND t.session_id = s.id'

const COLUMNS = `s.id, coalesce(s.title, s.auto_title) AS named,
  s.turn_count, s.last_at, s.app_id, s.device_id, s.user_id, s.folder, s.pinned, s.archived,
  (SELECT min(t.seq) ${TURNS}) AS first_seq, (SELECT max(t.seq) ${TURNS}) AS last_seq,
  coalesce((SELECT substr(t.user_text, 1, ${FIRST_TEXT_CHARS}) ${TURNS} ORDER BY t.seq LIMIT 1),
    (SELECT substr(d.user_text, 1, ${FIRST_TEXT_CHARS}) FROM talk_turn d
      WHERE d.tenant_id = s.tenant_id AND d.session_id = s.id AND d.state <> 'ended'
      ORDER BY d.started_at LIMIT 1)) AS first_text`

/** The conversations after a place, in order. */
function after(
  scope: Scope,
  place: ListPosition | null,
  limit: number,
  also: Statement = { sql: '', args: [] },
): Statement {
  const shown = inScope(scope)
  const lastAt = place?.lastAt ?? '~'
  return {
    sql: `SELECT * FROM session WHERE ${shown.sql}
      AND last_at <= ? AND (last_at < ? OR id > ?) ${also.sql} ORDER BY last_at DESC, id LIMIT ?`,
    args: [...shown.args, lastAt, lastAt, place?.id ?? null, ...also.args, limit],
  }
}

/** What decides which version of a conversation was used last: first of all a turn that is open. */
const useOf = (name: string) => `(EXISTS (SELECT 1 FROM talk_turn d
    WHERE d.tenant_id = ${name}.tenant_id AND d.session_id = ${name}.id AND d.state <> 'ended'),
  ${name}.last_at, ${name}.turn_count, ${name}.num)`

/** Of the versions of one conversation, the one that was used last. */
const NEWEST_OF_FAMILY = `AND (session.family IS NULL OR NOT EXISTS (SELECT 1 FROM session o
  WHERE o.tenant_id = session.tenant_id AND o.family = session.family
    AND ${useOf('o')} > ${useOf('session')}))`

/** A conversation in its order, by its number. */
export interface NumberedPlace extends ListPosition {
  readonly num: number
  readonly id: string
}

/** The beginning of what was said in a turn. */
export interface TurnText {
  readonly id: string
  readonly seq: number
  readonly user_text: string
  readonly reply: string
}

export interface ConversationStoreOptions {
  readonly db: Db
  /** Runs what a search reads. */
  readonly reader: Reader
  readonly index: Pick<TurnIndex, 'put'>
}

/** Pinned conversations after a place, or others. */
function marked(
  db: Db,
  scope: Scope,
  place: ListPosition | null,
  limit: number,
  { folder, archived, appId, deviceId }: Marks,
  pinned: 0 | 1,
): Promise<ConversationRow[]> {
  const kept = archived === null ? null : Number(archived)
  const also = `AND session.pinned = ${pinned}
    AND (CAST(? AS TEXT) IS NULL OR session.folder = ?)
    AND (CAST(? AS BIGINT) IS NULL OR session.archived = ?)
    AND (CAST(? AS TEXT) IS NULL OR session.app_id = ?)
    AND (CAST(? AS TEXT) IS NULL OR session.device_id = ?) ${NEWEST_OF_FAMILY}`
  const args = [folder, folder, kept, kept, appId, appId, deviceId, deviceId]
  const page = after(scope, place, limit, { sql: also, args })
  return db.all<ConversationRow>({
    sql: `SELECT ${COLUMNS} FROM (${page.sql}) s ORDER BY s.last_at DESC, s.id`,
    args: page.args,
  })
}

/** Lists conversations, and reads what a search of them shows. */
export function createConversationStore({ db, reader, index }: ConversationStoreOptions) {
  return {
    /** The conversations after a place, or the first ones; pinned ones come before the others. */
    async list(
      scope: Scope,
      place: ListPosition | null,
      limit: number,
      marks: Marks,
    ): Promise<ConversationRow[]> {
      const isAmongPinned = place === null || place.pinned === true
      const pinned = isAmongPinned ? await marked(db, scope, place, limit, marks, 1) : []
      if (pinned.length >= limit) return pinned
      const start = isAmongPinned ? null : place
      const rest = await marked(db, scope, start, limit - pinned.length, marks, 0)
      return [...pinned, ...rest]
    },

    /** The numbers of the conversations after a place, or of the first ones. */
    places(scope: Scope, place: ListPosition | null, limit: number, signal?: AbortSignal) {
      const page = after(scope, place, limit)
      return reader.all<NumberedPlace>(
        scope.tenantId,
        {
          sql: `SELECT num, last_at AS "lastAt", id FROM (${page.sql}) s
            ORDER BY last_at DESC, id`,
          args: page.args,
        },
        signal,
      )
    },

    /** As `places`, of these conversations alone. */
    placesOf(
      scope: Scope,
      nums: readonly number[],
      place: ListPosition | null,
      limit: number,
      signal?: AbortSignal,
    ) {
      const lastAt = place?.lastAt ?? '~'
      const shown = inScope(scope)
      const statement = {
        sql: `SELECT session.num, session.last_at AS "lastAt", session.id
          FROM json_each(?) wanted CROSS JOIN session
          WHERE session.num = CAST(wanted.value ->> 0 AS BIGINT) AND ${shown.sql}
            AND session.last_at <= ? AND (session.last_at < ? OR session.id > ?)
          ORDER BY session.last_at DESC, session.id LIMIT ?`,
        args: [inRows(nums), ...shown.args, lastAt, lastAt, place?.id ?? null, limit],
      }
      return reader.all<NumberedPlace>(scope.tenantId, statement, signal)
    },

    /** These conversations, in the order of the list. */
    rows(tenantId: string, nums: readonly number[], signal?: AbortSignal) {
      const text = `SELECT s.num, ${COLUMNS}
        FROM json_each(?) wanted CROSS JOIN session s
        WHERE s.num = CAST(wanted.value ->> 0 AS BIGINT) AND s.tenant_id = ?
        ORDER BY s.last_at DESC, s.id`
      const statement = { sql: text, args: [inRows(nums), tenantId] }
      return reader.all<ConversationRow & { num: number }>(tenantId, statement, signal)
    },

    /** The beginnings of the texts of these turns. */
    texts(tenantId: string, turns: readonly { id: string; seq: number }[], signal?: AbortSignal) {
      const wanted = JSON.stringify(turns.map(({ id, seq }) => [id, seq]))
      return reader.all<TurnText>(
        tenantId,
        sql`
        SELECT t.session_id AS id, t.seq,
          substr(t.user_text, 1, CAST(${INDEXED_CHARS_MAX} AS INTEGER)) AS user_text,
          substr(t.reply, 1, CAST(${INDEXED_CHARS_MAX} AS INTEGER)) AS reply
        FROM json_each(${wanted}) wanted CROSS JOIN turn t
        WHERE t.tenant_id = ${tenantId} AND t.session_id = wanted.value ->> 0
          AND t.seq = CAST(wanted.value ->> 1 AS BIGINT)`,
        signal,
      )
    },

    /** Null for a session that was never used. */
    read: (tenantId: string, id: string) =>
      db.get<ConversationRow>({
        sql: `SELECT ${COLUMNS} FROM session s
          WHERE s.tenant_id = ? AND s.id = ? AND ${isUsed('s')}`,
        args: [tenantId, id],
      }),

    /**
     * Sets what is given of folder, pin and archive, of all versions of a conversation, which are
     * listed as one; what is undefined stays.
     */
    async mark(
      tenantId: string,
      id: string,
      { folder, pinned, archived }: Omit<ConversationRequest, 'title'>,
    ): Promise<void> {
      const keep = Number(folder === undefined)
      const flag = (given: boolean | undefined) => (given === undefined ? null : Number(given))
      const mark = sql`
        UPDATE session SET
          folder = CASE ${keep} WHEN 1 THEN folder ELSE ${folder ?? null} END,
          pinned = coalesce(${flag(pinned)}, pinned),
          archived = coalesce(${flag(archived)}, archived)
        WHERE tenant_id = ${tenantId} AND id IN (`
      const marking = joined(mark, versionIds(tenantId, id), sql`)`)
      await db.run(withLock(['session', tenantId, id], marking))
    },

    /** Sets the title; null restores the one that a model gave. */
    async rename(tenantId: string, id: string, title: string | null): Promise<void> {
      const row = await db.get<{ auto_title: string | null }>(sql`
        SELECT auto_title FROM session WHERE tenant_id = ${tenantId} AND id = ${id}`)
      const shown = title ?? row?.auto_title ?? null
      await db.batch([
        sql`UPDATE session SET title = ${title} WHERE tenant_id = ${tenantId} AND id = ${id}`,
        indexTitle(index, { tenantId, sessionId: id }, shown),
      ])
    },
  }
}

/** Numbers as rows of JSON, which both databases read alike. */
const inRows = (nums: readonly number[]) => JSON.stringify(nums.map((num) => [num]))

export type ConversationStore = ReturnType<typeof createConversationStore>
