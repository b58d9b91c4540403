import { type Db, expectRows, locked, sql, storedAsExpected } from '../../storage/db.ts'
import type { Prompt, PromptRequest } from './model.ts'

/** Prompts by tenant; a name is one prompt's. */
export function createPromptStore(db: Db) {
  return {
    /** Newest first; those before `before`, an id of the page before. */
    list: (tenantId: string, before: string | null, limit: number) =>
      db.all<Prompt>(sql`
        SELECT id, name, title, text, created_at FROM prompt
        WHERE tenant_id = ${tenantId} AND (CAST(${before} AS TEXT) IS NULL OR id < ${before})
        ORDER BY id DESC LIMIT ${limit}`),

    find: (tenantId: string, id: string) =>
      db.get<Prompt>(sql`
        SELECT id, name, title, text, created_at FROM prompt
        WHERE tenant_id = ${tenantId} AND id = ${id}`),

    /** The prompt of this name; null when the name is free. */
    named: (tenantId: string, name: string) =>
      db.get<{ id: string }>(sql`
        SELECT id FROM prompt WHERE tenant_id = ${tenantId} AND name = ${name}`),

    /** False when the name is taken, or the tenant has `max` prompts. */
    insert(tenantId: string, prompt: Prompt, max: number): Promise<boolean> {
      const { id, name, title, text, created_at } = prompt
      const insert = locked('prompt', tenantId)`
        INSERT INTO prompt (id, tenant_id, name, title, text, created_at)
        SELECT ${id}, ${tenantId}, ${name}, ${title}, ${text}, ${created_at}
        WHERE (SELECT count(*) FROM prompt WHERE tenant_id = ${tenantId}) < ${max}
          AND NOT EXISTS (SELECT 1 FROM prompt WHERE tenant_id = ${tenantId} AND name = ${name})`
      return storedAsExpected(db.batch([expectRows(1, insert)]))
    },

    /** False when another prompt has the name, or there is no such prompt. */
    async replace(tenantId: string, id: string, { name, title, text }: PromptRequest) {
      const { changes } = await db.run(locked('prompt', tenantId)`
        UPDATE prompt SET name = ${name}, title = ${title}, text = ${text}
        WHERE tenant_id = ${tenantId} AND id = ${id}
          AND NOT EXISTS (SELECT 1 FROM prompt o
            WHERE o.tenant_id = ${tenantId} AND o.name = ${name} AND o.id <> ${id})`)
      return changes === 1
    },

    async remove(tenantId: string, id: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        DELETE FROM prompt WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },
  }
}

export type PromptStore = ReturnType<typeof createPromptStore>
