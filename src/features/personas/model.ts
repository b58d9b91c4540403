import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { optionalFlag, requiredText } from '../../core/fields.ts'
import { PERSONA_NAME_CHARS_MAX, PERSONA_PROMPT_CHARS_MAX } from '../../core/limits/contract.ts'

/** Body of PUT /console/personas/:id; another endpoint sets the default. */
export const PersonaUpdateRequest = z.object({
  name: requiredText('name', PERSONA_NAME_CHARS_MAX),
  prompt: requiredText('prompt', PERSONA_PROMPT_CHARS_MAX),
})
export type PersonaUpdateRequest = z.infer<typeof PersonaUpdateRequest>

export const CreatePersonaRequest = PersonaUpdateRequest.extend({
  is_default: optionalFlag('is_default', false),
})
export type CreatePersonaRequest = z.infer<typeof CreatePersonaRequest>

/** A persona of an imported configuration; without `is_default` the stored flag stays. */
export const ImportedPersona = PersonaUpdateRequest.extend({
  is_default: z
    .boolean({ error: issue('field_type', { field: 'is_default', kind: 'boolean' }) })
    .optional(),
})
export type ImportedPersona = z.infer<typeof ImportedPersona>

export const Persona = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    prompt: z.string(),
    /** 1 for the tenant's default, which at most one persona is; else 0. */
    is_default: z.int(),
    created_at: z.int(),
  }),
)
export type Persona = z.infer<typeof Persona>

export const PersonaListResponse = z.lazy(() => z.object({ personas: z.array(Persona) }))
export const PersonaDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)
