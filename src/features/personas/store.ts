import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import type { ImportedPersona, Persona, PersonaUpdateRequest } from './model.ts'

const clearDefault = (tenantId: string): Statement => locked('persona', tenantId)`
  UPDATE persona SET is_default = 0 WHERE tenant_id = ${tenantId} AND is_default = 1`

export type PersonaHead = Pick<Persona, 'id' | 'name' | 'is_default'>

/** Personas by tenant; at most one row of a tenant is the default. */
export function createPersonaStore(db: Db) {
  return {
    /** Newest first; without the prompts, which may be 24 MB together. */
    heads: (tenantId: string) =>
      db.all<PersonaHead>(sql`
        SELECT id, name, is_default FROM persona
        WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, id DESC`),

    find: (tenantId: string, id: string) =>
      db.get<Persona>(sql`
        SELECT id, name, prompt, is_default, created_at FROM persona
        WHERE tenant_id = ${tenantId} AND id = ${id}`),

    /**
     * A new default replaces the old one in the same transaction. False, and nothing changes, when
     * the tenant has `max` personas.
     */
    insert(tenantId: string, persona: Persona, max: number): Promise<boolean> {
      const insert = locked('persona', tenantId)`
        INSERT INTO persona (id, tenant_id, name, prompt, is_default, created_at)
        SELECT ${persona.id}, ${tenantId}, ${persona.name}, ${persona.prompt},
          ${persona.is_default}, ${persona.created_at}
        WHERE (SELECT count(*) FROM persona WHERE tenant_id = ${tenantId}) < ${max}`
      const before = persona.is_default === 1 ? [clearDefault(tenantId)] : []
      return storedAsExpected(db.batch([...before, expectRows(1, insert)]))
    },

    async update(tenantId: string, id: string, { name, prompt }: PersonaUpdateRequest) {
      const { changes } = await db.run(sql`
        UPDATE persona SET name = ${name}, prompt = ${prompt}
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },

    /** As `update`; also sets the default flag when the imported persona has one. */
    overwrite(tenantId: string, id: string, persona: ImportedPersona): Promise<boolean> {
      const { name, prompt, is_default: isDefault } = persona
      const flag = isDefault === undefined ? null : Number(isDefault)
      const update = sql`
        UPDATE persona SET name = ${name}, prompt = ${prompt},
          is_default = coalesce(${flag}, is_default)
        WHERE tenant_id = ${tenantId} AND id = ${id}`
      const before = isDefault ? [clearDefault(tenantId)] : []
      return storedAsExpected(db.batch([...before, expectRows(1, update)]))
    },

    /** Makes one persona the only default. False, and nothing changes, when it does not exist. */
    makeDefault(tenantId: string, id: string): Promise<boolean> {
      const set = sql`
        UPDATE persona SET is_default = 1 WHERE tenant_id = ${tenantId} AND id = ${id}`
      return storedAsExpected(db.batch([clearDefault(tenantId), expectRows(1, set)]))
    },

    async unmakeDefault(tenantId: string, id: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE persona SET is_default = 0 WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },

    async remove(tenantId: string, id: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        DELETE FROM persona WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },
  }
}

export type PersonaStore = ReturnType<typeof createPersonaStore>
