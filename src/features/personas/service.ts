import type { Clock } from '../../core/clock.ts'
import { notFound } from '../../core/errors.ts'
import { checked } from '../../core/explain.ts'
import { newId } from '../../core/ids.ts'
import {
  type CreatePersonaRequest,
  ImportedPersona,
  type Persona,
  type PersonaUpdateRequest,
} from './model.ts'
import type { PersonaStore } from './store.ts'

const missing = () => notFound('人设不存在')

/** The tenant's persona library. Everything here answers 404 for what is not the tenant's. */
export function createPersonas({ store, clock }: { store: PersonaStore; clock: Clock }) {
  async function read(tenantId: string, id: string): Promise<Persona> {
    const persona = await store.find(tenantId, id)
    if (!persona) throw missing()
    return persona
  }

  async function changed(tenantId: string, id: string, done: Promise<boolean>): Promise<Persona> {
    if (!(await done)) throw missing()
    return read(tenantId, id)
  }

  return {
    list: async (tenantId: string) => ({ personas: await store.list(tenantId) }),

    async create(tenantId: string, request: CreatePersonaRequest): Promise<Persona> {
      const { name, prompt, is_default: isDefault } = request
      const persona = { id: newId(), name, prompt, createdAt: clock.now(), isDefault }
      await store.insert(tenantId, persona)
      return read(tenantId, persona.id)
    },

    update: (tenantId: string, id: string, request: PersonaUpdateRequest) =>
      changed(tenantId, id, store.update(tenantId, id, request)),

    /** An item of an imported configuration; 400 with what is wrong with it. */
    checkImported: (item: unknown): ImportedPersona => checked(ImportedPersona, item),

    /** Replaces a persona by one of an imported configuration. */
    overwrite: (tenantId: string, id: string, persona: ImportedPersona) =>
      changed(tenantId, id, store.overwrite(tenantId, id, persona)),

    /** At most one persona of a tenant is the default, also when two are made so at once. */
    makeDefault: (tenantId: string, id: string) =>
      changed(tenantId, id, store.makeDefault(tenantId, id)),

    unmakeDefault: (tenantId: string, id: string) =>
      changed(tenantId, id, store.unmakeDefault(tenantId, id)),

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      if (!(await store.remove(tenantId, id))) throw missing()
      return { id, deleted: true }
    },
  }
}

export type Personas = ReturnType<typeof createPersonas>
