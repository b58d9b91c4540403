import { type Db, locked, type Reader, type Statement, sql, withLock } from '../../storage/db.ts'
import type { Memory } from './model.ts'

/** Whose facts: of one subject, those of one app or (`scope` empty) those that apps share. */
export interface Place {
  readonly tenantId: string
  readonly subject: string
  readonly scope: string
}

/** A fact with its likeness: a unit vector, and the model that made it. */
export interface Vectored {
  readonly id: string
  readonly vector_model: string | null
  readonly vector: Uint8Array | null
}

export interface Fact {
  readonly id: string
  readonly text: string
  readonly pinned: number
  readonly updated_at: string
  readonly used_at: string | null
}

export interface NewFact extends Pick<Memory, 'id' | 'text' | 'pinned' | 'source' | 'session_id'> {
  readonly at: string
}

export interface Likeness {
  readonly model: string
  readonly vector: Uint8Array
}

type Row = Omit<Memory, 'pinned' | 'app_id'> & { readonly pinned: number; readonly scope: string }

const memoryOf = ({ scope, ...row }: Row): Memory => ({
  ...row,
  app_id: scope === '' ? null : scope,
  pinned: row.pinned === 1,
})

/** One text is one fact, however it is capitalised. */
export const keyOf = (text: string): string => text.trim().toLowerCase()

export interface Quota {
  readonly place: number
  readonly tenant: number
}

/** Deletes what is remembered in an app; of the transaction that deletes it. */
export const forgetApp = (tenantId: string, appId: string): Statement =>
  locked('memory', tenantId)`DELETE FROM memory WHERE tenant_id = ${tenantId} AND scope = ${appId}`

/** Deletes what is remembered of a subject; of the transaction that deletes a device, say. */
export const forgetSubject = (tenantId: string, subject: string): Statement =>
  locked(
    'memory',
    tenantId,
  )`DELETE FROM memory WHERE tenant_id = ${tenantId} AND subject = ${subject}`

const marksFor = (values: readonly unknown[]) => values.map(() => '?').join(', ')

/**
 * The statements that write facts, for a transaction of the caller. Writers of a tenant, and
 * what removes its app, device or person, wait for each other.
 */
const statements = {
  /** Inserts nothing where there is no room, or the app, device or person has gone. */
  insert(
    { tenantId, subject, scope }: Place,
    fact: NewFact,
    likeness: Likeness | null,
    { place, tenant }: Quota,
  ): Statement {
    const deviceId = subject.startsWith('device:') ? subject.slice('device:'.length) : null
    const userId = subject.startsWith('user:') ? subject.slice('user:'.length) : null
    return locked('memory', tenantId)`
        INSERT INTO memory (id, tenant_id, subject, scope, text, text_key, pinned, source,
          session_id, created_at, updated_at, vector_model, vector)
        SELECT ${fact.id}, ${tenantId}, ${subject}, ${scope}, ${fact.text}, ${keyOf(fact.text)},
          ${fact.pinned ? 1 : 0}, ${fact.source}, ${fact.session_id}, ${fact.at}, ${fact.at},
          ${likeness?.model ?? null}, ${likeness?.vector ?? null}
        WHERE (SELECT count(*) FROM memory WHERE tenant_id = ${tenantId}
            AND subject = ${subject} AND scope = ${scope}) < ${place}
          AND (SELECT count(*) FROM memory WHERE tenant_id = ${tenantId}) < ${tenant}
          AND (${scope} = '' OR EXISTS
            (SELECT 1 FROM app WHERE tenant_id = ${tenantId} AND id = ${scope}))
          AND (CAST(${userId} AS TEXT) IS NULL
            OR EXISTS (SELECT 1 FROM "user" WHERE id = ${userId}))
          AND (CAST(${deviceId} AS TEXT) IS NULL OR EXISTS
            (SELECT 1 FROM device WHERE tenant_id = ${tenantId} AND id = ${deviceId}))
        ON CONFLICT (tenant_id, subject, scope, text_key)
          DO UPDATE SET updated_at = excluded.updated_at`
  },

  /** The same text was told again. `pinned` null keeps what was. */
  touch({ tenantId }: Place, id: string, at: string, pinned: boolean | null): Statement {
    const flag = pinned === null ? null : Number(pinned)
    return locked('memory', tenantId)`
        UPDATE memory SET updated_at = ${at}, pinned = coalesce(CAST(${flag} AS INTEGER), pinned)
        WHERE tenant_id = ${tenantId} AND id = ${id}`
  },

  /** Replaces the text; another fact of this text goes, so that none is doubled. */
  replace(
    { tenantId, subject, scope }: Place,
    fact: Pick<NewFact, 'id' | 'text' | 'at'> & { readonly pinned: boolean | null },
    likeness: Likeness | null,
  ): readonly Statement[] {
    const { id, text, at } = fact
    const flag = fact.pinned === null ? null : Number(fact.pinned)
    const undouble = locked('memory', tenantId)`
        DELETE FROM memory WHERE tenant_id = ${tenantId} AND subject = ${subject}
          AND scope = ${scope} AND text_key = ${keyOf(text)} AND id <> ${id}
          AND EXISTS (SELECT 1 FROM memory o WHERE o.tenant_id = ${tenantId} AND o.id = ${id})`
    const update = locked('memory', tenantId)`
        UPDATE memory SET text = ${text}, text_key = ${keyOf(text)}, updated_at = ${at},
          pinned = coalesce(CAST(${flag} AS INTEGER), pinned),
          vector_model = ${likeness?.model ?? null}, vector = ${likeness?.vector ?? null}
        WHERE tenant_id = ${tenantId} AND subject = ${subject} AND scope = ${scope}
          AND id = ${id}`
    return [undouble, update]
  },

  remove: ({ tenantId, subject, scope }: Place, id: string): Statement =>
    locked('memory', tenantId)`
        DELETE FROM memory WHERE tenant_id = ${tenantId} AND subject = ${subject}
          AND scope = ${scope} AND id = ${id}`,

  /** The facts were shown to the model; `before` is when a use is old enough to be written anew. */
  used: (tenantId: string, ids: readonly string[], at: string, before: string): Statement =>
    withLock(['memory', tenantId], {
      sql: `UPDATE memory SET used_at = ? WHERE tenant_id = ? AND id IN (${marksFor(ids)})
        AND (used_at IS NULL OR used_at < ?)`,
      args: [at, tenantId, ...ids, before],
    }),
}

/** Facts by tenant, subject and scope. */
export function createMemoryStore(db: Db, reader: Reader) {
  return {
    /** The facts of a place, pinned and newest first. */
    facts: ({ tenantId, subject, scope }: Place) =>
      db.all<Fact>(sql`
        SELECT id, text, pinned, updated_at, used_at FROM memory
        WHERE tenant_id = ${tenantId} AND subject = ${subject} AND scope = ${scope}
        ORDER BY pinned DESC, updated_at DESC, id DESC`),

    vectors: ({ tenantId, subject, scope }: Place) =>
      db.all<Vectored>(sql`
        SELECT id, vector_model, vector FROM memory
        WHERE tenant_id = ${tenantId} AND subject = ${subject} AND scope = ${scope}`),

    /** The facts of a subject with their vectors, of one app or of all; off the event loop. */
    async vectored(tenantId: string, subject: string, appId: string | null) {
      const rows = await reader.all<Row & Vectored>(
        tenantId,
        sql`SELECT id, subject, scope, text, pinned, source, session_id, created_at, updated_at,
            used_at, vector_model, vector FROM memory
          WHERE tenant_id = ${tenantId} AND subject = ${subject}
            AND (CAST(${appId} AS TEXT) IS NULL OR scope = ${appId})
          ORDER BY id DESC`,
      )
      return rows.map(({ vector_model, vector, ...row }) => ({
        vector_model,
        vector,
        memory: memoryOf(row),
      }))
    },

    /** Newest first; of one subject. */
    async list(tenantId: string, filter: ListFilter): Promise<Memory[]> {
      const { subject, appId, before, limit } = filter
      const rows = await db.all<Row>(sql`
        SELECT id, subject, scope, text, pinned, source, session_id, created_at, updated_at, used_at
        FROM memory
        WHERE tenant_id = ${tenantId} AND subject = ${subject}
          AND (CAST(${appId} AS TEXT) IS NULL OR scope = ${appId})
          AND (CAST(${before} AS TEXT) IS NULL OR id < ${before})
        ORDER BY id DESC LIMIT ${limit}`)
      return rows.map(memoryOf)
    },

    async find(tenantId: string, id: string): Promise<Memory | null> {
      const row = await db.get<Row>(sql`
        SELECT id, subject, scope, text, pinned, source, session_id, created_at, updated_at, used_at
        FROM memory WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row && memoryOf(row)
    },

    /** The id of the fact with this text; null when there is none. */
    async same({ tenantId, subject, scope }: Place, text: string): Promise<string | null> {
      const row = await db.get<{ id: string }>(sql`
        SELECT id FROM memory WHERE tenant_id = ${tenantId} AND subject = ${subject}
          AND scope = ${scope} AND text_key = ${keyOf(text)}`)
      return row?.id ?? null
    },

    ...statements,

    async removeSubject(tenantId: string, subject: string, appId: string | null): Promise<number> {
      const { changes } = await db.run(
        locked('memory', tenantId)`
          DELETE FROM memory WHERE tenant_id = ${tenantId} AND subject = ${subject}
            AND (CAST(${appId} AS TEXT) IS NULL OR scope = ${appId})`,
      )
      return changes
    },

    /** Keeps the vector that a later model has made of a text, while it is this text. */
    async putVector(tenantId: string, id: string, text: string, { model, vector }: Likeness) {
      await db.run(sql`
        UPDATE memory SET vector_model = ${model}, vector = ${vector}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND text = ${text}`)
    },

    /** Those of the ids that are there. */
    async present(tenantId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
      if (ids.length === 0) return new Set()
      const rows = await db.all<{ id: string }>({
        sql: `SELECT id FROM memory WHERE tenant_id = ? AND id IN (${marksFor(ids)})`,
        args: [tenantId, ...ids],
      })
      return new Set(rows.map(({ id }) => id))
    },

    /** How many facts a tenant has. */
    async count(tenantId: string): Promise<number> {
      const row = await db.get<{ facts: number }>(sql`
        SELECT count(*) AS facts FROM memory WHERE tenant_id = ${tenantId}`)
      return row?.facts ?? 0
    },

    async countAll(): Promise<number> {
      const row = await db.get<{ facts: number }>(sql`SELECT count(*) AS facts FROM memory`)
      return row?.facts ?? 0
    },

    /** Subjects with their facts, those told last first; persons are one row, unnamed. */
    subjects: (tenantId: string, appId: string | null) =>
      db.all<{ subject: string; count: number; last_at: string }>(sql`
        SELECT s.subject, count(*) AS count, max(s.updated_at) AS last_at
        FROM (SELECT CASE WHEN substr(subject, 1, 5) = 'user:' THEN 'user:*' ELSE subject END
              AS subject,
            updated_at FROM memory
          WHERE tenant_id = ${tenantId}
            AND (CAST(${appId} AS TEXT) IS NULL OR scope = ${appId})) s
        GROUP BY s.subject ORDER BY last_at DESC, s.subject`),

    async hasDevice(tenantId: string, id: string): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 FROM device WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row !== null
    },

    run: (statements: readonly Statement[]) => db.batch(statements),
  }
}

export interface ListFilter {
  readonly subject: string
  /** Null: of all apps, and those that apps share. */
  readonly appId: string | null
  readonly before: string | null
  readonly limit: number
}

export type MemoryStore = ReturnType<typeof createMemoryStore>
