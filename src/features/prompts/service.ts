import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { PROMPTS_MAX } from '../../core/limits/contract.ts'
import { type Prompt, PromptRequest } from './model.ts'
import type { PromptStore } from './store.ts'

const missing = () => appError('not_found', { what: 'prompt' })

export interface PromptParts {
  readonly store: PromptStore
  readonly clock: Pick<Clock, 'iso'>
}

/** The tenant's prompts. Every call answers 404 for a prompt that is not the tenant's. */
export function createPrompts({ store, clock }: PromptParts) {
  async function read(tenantId: string, id: string): Promise<Prompt> {
    const prompt = await store.find(tenantId, id)
    if (!prompt) throw missing()
    return prompt
  }

  return {
    async list(tenantId: string, before: string | null, limit: number) {
      const rows = await store.list(tenantId, before, limit + 1)
      const prompts = rows.slice(0, limit)
      const next_before = rows.length > limit ? (prompts.at(-1)?.id ?? null) : null
      return { prompts, next_before }
    },

    /** All of them, newest first. */
    all: (tenantId: string) => store.list(tenantId, null, PROMPTS_MAX),

    read,

    /** Throws `name_taken` and `quota_prompts`. */
    async create(tenantId: string, request: PromptRequest): Promise<Prompt> {
      const prompt = { id: newId(), ...request, created_at: clock.iso() }
      if (await store.insert(tenantId, prompt, PROMPTS_MAX)) return prompt
      if (await store.named(tenantId, request.name)) {
        throw appError('name_taken', { name: request.name })
      }
      throw appError('quota_prompts', { max: PROMPTS_MAX })
    },

    /** Throws `name_taken`. */
    async replace(tenantId: string, id: string, request: PromptRequest): Promise<Prompt> {
      const { created_at } = await read(tenantId, id)
      if (!(await store.replace(tenantId, id, request))) {
        await read(tenantId, id)
        throw appError('name_taken', { name: request.name })
      }
      return { id, ...request, created_at }
    },

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      if (!(await store.remove(tenantId, id))) throw missing()
      return { id, deleted: true }
    },

    /** Validates a prompt of an imported configuration; throws `AppError` (400). */
    checkImported: (item: unknown): PromptRequest => checked(PromptRequest, item),
  }
}

export type Prompts = ReturnType<typeof createPrompts>
