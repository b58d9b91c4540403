import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { PERSONAS_MAX } from '../../core/limits/machine.ts'
import {
  type CreatePersonaRequest,
  ImportedPersona,
  type Persona,
  type PersonaUpdateRequest,
} from './model.ts'
import type { PersonaHead, PersonaStore } from './store.ts'

const missing = () => appError('not_found', { what: 'persona' })

/** The tenant's personas. Every call answers 404 for a persona that is not the tenant's. */
export function createPersonas({ store, clock }: { store: PersonaStore; clock: Clock }) {
  async function read(tenantId: string, id: string): Promise<Persona> {
    const persona = await store.find(tenantId, id)
    if (!persona) throw missing()
    return persona
  }

  /** The personas of `heads` that still exist, in order, read one by one. */
  async function* each(tenantId: string, heads: readonly PersonaHead[]): AsyncGenerator<Persona> {
    for (const { id } of heads) {
      const persona = await store.find(tenantId, id)
      if (persona) yield persona
    }
  }

  /** Returns what this call wrote, even when another call has replaced it since. */
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
    /** Newest first. */
    heads: store.heads,

    each,

    /** Newest first, read while they are sent. */
    list: async (tenantId: string) => ({
      personas: each(tenantId, await store.heads(tenantId)),
    }),

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

    /** Validates a persona of an imported configuration; throws `AppError` (400). */
    checkImported: (item: unknown): ImportedPersona => checked(ImportedPersona, item),

    /** Replaces a persona with one of an imported configuration. */
    async overwrite(tenantId: string, id: string, persona: ImportedPersona): Promise<void> {
      if (!(await store.overwrite(tenantId, id, persona))) throw missing()
    },

    /** Afterwards exactly one persona is the default, also after simultaneous calls. */
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
