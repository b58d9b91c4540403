import { APP_VERSIONS_MAX } from '../../core/limits/contract.ts'
import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import type { App, AppVersion } from './model.ts'

type Row = Omit<
  App,
  | 'thinking'
  | 'kb_enabled'
  | 'tools_enabled'
  | 'may_ask'
  | 'starters'
  | 'collections'
  | 'reminders'
  | 'memory'
> & {
  readonly reminders: number | null
  readonly thinking: number | null
  readonly may_ask: number | null
  readonly kb_enabled: number
  readonly tools_enabled: string | null
  readonly collections: string | null
  readonly starters: string
  readonly remembers: App['memory']
}

const appOf = ({ remembers, ...row }: Row): App => ({
  ...row,
  memory: remembers,
  thinking: row.thinking === null ? null : row.thinking === 1,
  kb_enabled: row.kb_enabled === 1,
  reminders: row.reminders === null ? null : row.reminders === 1,
  may_ask: row.may_ask === null ? null : row.may_ask === 1,
  tools_enabled: row.tools_enabled === null ? null : (JSON.parse(row.tools_enabled) as string[]),
  collections: row.collections === null ? null : (JSON.parse(row.collections) as string[]),
  starters: JSON.parse(row.starters) as string[],
})

const flagValue = (flag: boolean | null) => (flag === null ? null : Number(flag))
const jsonText = (tools: readonly string[] | null) =>
  tools === null ? null : JSON.stringify(tools)

/** What a change replaces. */
interface Kept {
  /** The number of the version that it replaces. */
  readonly version: number
  readonly at: string
  readonly userId: string | null
  readonly keyId: string | null
  readonly changed: readonly string[]
  readonly was: App
}

export type AppName = Pick<App, 'id' | 'name' | 'created_at'>

/** Apps by tenant, in the field names of the API. */
export function createAppStore(db: Db) {
  return {
    async has(tenantId: string, id: string): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 AS one FROM app WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row !== null
    },

    async list(tenantId: string): Promise<App[]> {
      const rows = await db.all<Row>(sql`
        SELECT id, name, system_prompt, persona_id, model, thinking, temperature, kb_enabled,
          tools_enabled, may_ask, reminders, icon, description, greeting, starters, collections,
          remembers, created_at
        FROM app WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`)
      return rows.map(appOf)
    },

    /** Ids and names of the tenant's apps, newest first. */
    names: (tenantId: string): Promise<AppName[]> =>
      db.all<AppName>(sql`
        SELECT id, name, created_at
        FROM app WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`),

    /** The app, and the number of its version. */
    async find(tenantId: string, id: string): Promise<{ app: App; version: number } | null> {
      const row = await db.get<Row & { version: number }>(sql`
        SELECT id, name, system_prompt, persona_id, model, thinking, temperature, kb_enabled,
          tools_enabled, may_ask, reminders, icon, description, greeting, starters, collections,
          remembers,
          created_at, version
        FROM app WHERE tenant_id = ${tenantId} AND id = ${id}`)
      if (!row) return null
      const { version, ...app } = row
      return { app: appOf(app), version }
    },

    /** False, and nothing is stored, when the tenant has `max` apps; one statement decides. */
    async insert(tenantId: string, app: App, max: number): Promise<boolean> {
      const { changes } = await db.run(locked('app', tenantId)`
        INSERT INTO app (id, tenant_id, name, system_prompt, persona_id, model, thinking,
          temperature, kb_enabled, tools_enabled, may_ask, reminders, icon, description, greeting,
          starters, collections, remembers, created_at)
        SELECT ${app.id}, ${tenantId}, ${app.name}, ${app.system_prompt}, ${app.persona_id},
          ${app.model}, ${flagValue(app.thinking)}, ${app.temperature},
          ${flagValue(app.kb_enabled)}, ${jsonText(app.tools_enabled)},
          ${flagValue(app.may_ask)}, ${flagValue(app.reminders)}, ${app.icon},
          ${app.description}, ${app.greeting}, ${JSON.stringify(app.starters)},
          ${jsonText(app.collections)}, ${app.memory}, ${app.created_at}
        WHERE (SELECT count(*) FROM app WHERE tenant_id = ${tenantId}) < ${max}`)
      return changes === 1
    },

    /**
     * Replaces every field and keeps what was there as a version, in one transaction. False, and
     * nothing is stored, when the app has gone or was changed since it was read.
     */
    replace(tenantId: string, id: string, app: App, kept: Kept): Promise<boolean> {
      const { version, at, userId, keyId, changed, was } = kept
      const update = sql`
        UPDATE app SET version = version + 1, name = ${app.name},
          system_prompt = ${app.system_prompt}, persona_id = ${app.persona_id},
          model = ${app.model},
          thinking = ${flagValue(app.thinking)}, temperature = ${app.temperature},
          kb_enabled = ${flagValue(app.kb_enabled)}, tools_enabled = ${jsonText(app.tools_enabled)},
          may_ask = ${flagValue(app.may_ask)}, reminders = ${flagValue(app.reminders)},
          icon = ${app.icon}, description = ${app.description}, greeting = ${app.greeting},
          starters = ${JSON.stringify(app.starters)}, collections = ${jsonText(app.collections)},
          remembers = ${app.memory}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND version = ${version}`
      // No lock: the statement before it holds the row of the app.
      const keep = sql`
        INSERT INTO app_version (app_id, version, tenant_id, at, person, key_id, changed, app)
        VALUES (${id}, ${version}, ${tenantId}, ${at},
          (SELECT email FROM "user" WHERE id = ${userId}), ${keyId},
          ${JSON.stringify(changed)}, ${JSON.stringify(was)})`
      const forget = sql`
        DELETE FROM app_version
        WHERE app_id = ${id} AND tenant_id = ${tenantId}
          AND version <= ${version - APP_VERSIONS_MAX}`
      return storedAsExpected(db.batch([expectRows(1, update), keep, forget]))
    },

    /** Versions before the present one, newest first. */
    async versions(tenantId: string, id: string): Promise<AppVersion[]> {
      const rows = await db.all<Omit<AppVersion, 'changed'> & { changed: string }>(sql`
        SELECT version, at, person, key_id, changed FROM app_version
        WHERE tenant_id = ${tenantId} AND app_id = ${id} ORDER BY version DESC`)
      return rows.map((row) => ({ ...row, changed: JSON.parse(row.changed) as string[] }))
    },

    /** The fields of a version; null for one that is not kept. */
    async version(tenantId: string, id: string, version: number): Promise<Partial<App> | null> {
      const row = await db.get<{ app: string }>(sql`
        SELECT app FROM app_version
        WHERE tenant_id = ${tenantId} AND app_id = ${id} AND version = ${version}`)
      return row && (JSON.parse(row.app) as Partial<App>)
    },

    /** Deletes the app and runs `also` in one transaction; false when there is no such app. */
    remove(tenantId: string, id: string, also: readonly Statement[]): Promise<boolean> {
      const remove = sql`DELETE FROM app WHERE tenant_id = ${tenantId} AND id = ${id}`
      return storedAsExpected(db.batch([expectRows(1, remove), ...also]))
    },
  }
}

export type AppStore = ReturnType<typeof createAppStore>
