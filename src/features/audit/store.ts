import { type Db, joined, type Statement, sql, textRows } from '../../storage/db.ts'

export interface AuditRow {
  readonly id: string
  /** Epoch milliseconds. */
  readonly ts: number
  readonly person: string | null
  readonly key_id: string | null
  readonly action: string
  readonly target: string | null
  /** The name that the target had then. */
  readonly target_name: string | null
  readonly address: string
}

export interface NewAuditRow extends Omit<AuditRow, 'person'> {
  /** Empty: a change to the server itself. */
  readonly tenantId: string
  readonly userId: string | null
}

/** Which lines of the audit: of whom, and below which id. */
export interface AuditPlace {
  readonly tenantId: string
  /** A second tenant whose lines are included, or the same. */
  readonly also: string
  readonly before: string
}

/** What lines are asked for; null: all. */
export interface AuditFilter {
  /** Address of a person in lower case, or id of a key. */
  readonly actor: string | null
  readonly actions: readonly string[] | null
}

/** Each tenant's lines are read in the order of their key: at most two windows are sorted. */
const newest = ({ tenantId, also, before }: AuditPlace, window: number): Statement => sql`
  SELECT * FROM (SELECT * FROM audit WHERE tenant_id = ${tenantId} AND id < ${before}
    ORDER BY id DESC LIMIT ${window}) AS own
  UNION
  SELECT * FROM (SELECT * FROM audit WHERE tenant_id = ${also} AND id < ${before}
    ORDER BY id DESC LIMIT ${window}) AS others
  ORDER BY id DESC LIMIT ${window}`

function matching({ actor, actions }: AuditFilter): Statement {
  const rows = textRows(actions ?? [])
  return sql`
    (CAST(${actor} AS TEXT) IS NULL OR person = ${actor} OR key_id = ${actor})
    AND (CAST(${actions && rows} AS TEXT) IS NULL
      OR action IN (SELECT value ->> 0 FROM json_each(${rows})))`
}

/** Table and column of the name of what has one, by the first part of the actions on it. */
const NAMED: Readonly<Record<string, readonly [table: string, name: string]>> = {
  app: ['app', 'name'],
  persona: ['persona', 'name'],
  prompt: ['prompt', 'name'],
  webhook: ['webhook', 'name'],
  trigger: ['run_trigger', 'name'],
  schedule: ['schedule', 'name'],
  share: ['share', 'name'],
  document: ['kb_doc', 'title'],
  source: ['kb_source', 'title'],
  collection: ['kb_collection', 'name'],
  device: ['device', 'name'],
  server: ['mcp_server', 'name'],
  member: ['member', 'email'],
  key: ['api_key', 'name'],
}

/** The lines of the audit by tenant. Ids sort by time. */
export function createAuditStore(db: Db) {
  return {
    /** Stores the address of the person, because the person may be deleted later. */
    async insert(row: NewAuditRow): Promise<void> {
      // No lock: it copies an address and decides nothing by it.
      await db.run(sql`
        INSERT INTO audit (tenant_id, id, ts, person, key_id, action, target, target_name,
          address)
        VALUES (${row.tenantId}, ${row.id}, ${row.ts},
          (SELECT email FROM "user" WHERE id = ${row.userId}),
          ${row.key_id}, ${row.action}, ${row.target}, ${row.target_name},
          ${row.address})`)
    },

    /** The name that the target of an action has now; null for what has none. */
    async nameOf(tenantId: string, noun: string, id: string): Promise<string | null> {
      if (noun === 'person') {
        const row = await db.get<{ name: string }>(sql`
          SELECT email AS name FROM "user" WHERE id = ${id}`)
        return row?.name ?? null
      }
      const [table, name] = NAMED[noun] ?? []
      if (table === undefined) return null
      const row = await db.get<{ name: string | null }>({
        sql: `SELECT ${name} AS name FROM ${table} WHERE tenant_id = ? AND id = ?`,
        args: [tenantId, id],
      })
      return row?.name || null
    },

    /** Newest first, of the `window` newest lines below `before` alone, with what matches. */
    list: (from: AuditPlace, window: number, filter: AuditFilter, limit: number) =>
      db.all<AuditRow>(
        joined(
          sql`SELECT id, ts, person, key_id, action, target, target_name, address FROM (`,
          newest(from, window),
          sql`) AS newest WHERE`,
          matching(filter),
          sql`ORDER BY id DESC LIMIT ${limit}`,
        ),
      ),

    /** Id of the last of the `window` newest lines; null where there are fewer. */
    async endOf(from: AuditPlace, window: number): Promise<string | null> {
      const last = joined(
        sql`SELECT id FROM (`,
        newest(from, window),
        sql`) AS newest ORDER BY id DESC LIMIT 1 OFFSET ${window - 1}`,
      )
      return (await db.get<{ id: string }>(last))?.id ?? null
    },

    /** Deletes up to 5,000 lines of all tenants older than `before`; resolves with their number. */
    async prune(before: number): Promise<number> {
      // No lock: rows only grow older.
      const { changes } = await db.run(sql`
        DELETE FROM audit WHERE (tenant_id, id) IN (
          SELECT tenant_id, id FROM audit WHERE ts < ${before} LIMIT 5000)`)
      return changes
    },
  }
}

export type AuditStore = ReturnType<typeof createAuditStore>
