import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { PERSONAS_MAX } from '../../core/limits/machine.ts'
import { checked } from '../../core/validate.ts'
import {
  type CreatePersonaRequest,
  ImportedPersona,
  type Persona,
  type PersonaUpdateRequest,
} from './model.ts'
import type { PersonaStore } from './store.ts'

const missing = () => appError('not_found', { what: 'persona' })

/** The tenant's persona library. Everything here answers 404 for what is not the tenant's. */
export function createPersonas({ store, clock }: { store: PersonaStore; clock: Clock }) {
  async function read(tenantId: string, id: string): Promise<Persona> {
    const persona = await store.find(tenantId, id)
    if (!persona) throw missing()
    return persona
  }

  /** The answer to a change is what it has made, though another may have come since. */
  async function change(
    tenantId: string,
    id: string,
    write: () => Promise<boolean>,
    fields: Partial<Persona>,
  ): Promise<Persona> {
    const persona = await read(tenantId, id)
    if (!(await write())) throw missing()
    return { ...persona, ...fields }
  }

  return {
    list: async (tenantId: string) => ({ personas: await store.list(tenantId) }),

    /** Throws `quota_personas` at the quota. */
    async create(tenantId: string, request: CreatePersonaRequest): Promise<Persona> {
      const { name, prompt } = request
      const is_default = Number(request.is_default)
      const persona = { id: newId(), name, prompt, is_default, created_at: clock.now() }
      if (!(await store.insert(tenantId, persona, PERSONAS_MAX))) {
        throw appError('quota_personas', { max: PERSONAS_MAX })
      }
      return persona
    },

    update: (tenantId: string, id: string, request: PersonaUpdateRequest) =>
      change(tenantId, id, () => store.update(tenantId, id, request), request),

    /** An item of an imported configuration; 400 with what is wrong with it. */
    checkImported: (item: unknown): ImportedPersona => checked(ImportedPersona, item),

    /** Replaces a persona by one of an imported configuration. */
    async overwrite(tenantId: string, id: string, persona: ImportedPersona): Promise<void> {
      if (!(await store.overwrite(tenantId, id, persona))) throw missing()
    },

    /** At most one persona of a tenant is the default, also when two are made so at once. */
    makeDefault: (tenantId: string, id: string) =>
      change(tenantId, id, () => store.makeDefault(tenantId, id), { is_default: 1 }),

    unmakeDefault: (tenantId: string, id: string) =>
      change(tenantId, id, () => store.unmakeDefault(tenantId, id), { is_default: 0 }),

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      if (!(await store.remove(tenantId, id))) throw missing()
      return { id, deleted: true }
    },
  }
}

export type Personas = ReturnType<typeof createPersonas>
