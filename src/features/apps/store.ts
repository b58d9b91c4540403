import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import type { App, AppUpsertRequest } from './model.ts'

type Row = Omit<App, 'thinking' | 'kb_enabled' | 'tools_enabled'> & {
  readonly thinking: number | null
  readonly kb_enabled: number
  readonly tools_enabled: string | null
}

const appOf = (row: Row): App => ({
  ...row,
  thinking: row.thinking === null ? null : row.thinking === 1,
  kb_enabled: row.kb_enabled === 1,
  tools_enabled: row.tools_enabled === null ? null : (JSON.parse(row.tools_enabled) as string[]),
})

const flagValue = (flag: boolean | null) => (flag === null ? null : Number(flag))
const jsonText = (tools: readonly string[] | null) =>
  tools === null ? null : JSON.stringify(tools)

export type AppName = Pick<App, 'id' | 'name' | 'created_at'>

/** Apps by tenant, in the field names of the API. */
export function createAppStore(db: Db) {
  return {
    async list(tenantId: string): Promise<App[]> {
      const rows = await db.all<Row>(sql`
        SELECT id, name, system_prompt, persona_id, model, thinking, temperature, kb_enabled,
          tools_enabled, created_at
        FROM app WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`)
      return rows.map(appOf)
    },

    /** Ids and names of the tenant's apps, newest first. */
    names: (tenantId: string): Promise<AppName[]> =>
      db.all<AppName>(sql`
        SELECT id, name, created_at
        FROM app WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`),

    async find(tenantId: string, id: string): Promise<App | null> {
      const row = await db.get<Row>(sql`
        SELECT id, name, system_prompt, persona_id, model, thinking, temperature, kb_enabled,
          tools_enabled, created_at
        FROM app WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row && appOf(row)
    },

    /** False, and nothing is stored, when the tenant has `max` apps; one statement decides. */
    async insert(tenantId: string, app: App, max: number): Promise<boolean> {
      const { changes } = await db.run(locked('app', tenantId)`
        INSERT INTO app (id, tenant_id, name, system_prompt, persona_id, model, thinking,
          temperature, kb_enabled, tools_enabled, created_at)
        SELECT ${app.id}, ${tenantId}, ${app.name}, ${app.system_prompt}, ${app.persona_id},
          ${app.model}, ${flagValue(app.thinking)}, ${app.temperature},
          ${flagValue(app.kb_enabled)}, ${jsonText(app.tools_enabled)}, ${app.created_at}
        WHERE (SELECT count(*) FROM app WHERE tenant_id = ${tenantId}) < ${max}`)
      return changes === 1
    },

    /** Replaces every field; false when the tenant has no such app. */
    async replace(tenantId: string, id: string, app: AppUpsertRequest): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE app SET name = ${app.name}, system_prompt = ${app.system_prompt},
          persona_id = ${app.persona_id}, model = ${app.model},
          thinking = ${flagValue(app.thinking)}, temperature = ${app.temperature},
          kb_enabled = ${flagValue(app.kb_enabled)}, tools_enabled = ${jsonText(app.tools_enabled)}
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },

    /** Deletes the app and runs `also` in one transaction; false when there is no such app. */
    remove(tenantId: string, id: string, also: Statement): Promise<boolean> {
      const remove = sql`DELETE FROM app WHERE tenant_id = ${tenantId} AND id = ${id}`
      return storedAsExpected(db.batch([expectRows(1, remove), also]))
    },
  }
}

export type AppStore = ReturnType<typeof createAppStore>
