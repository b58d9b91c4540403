import { z } from 'zod'
import { issue } from '../../core/errors.ts'

/** A person who can sign in to this server, as its operators see them. */
export const Person = z.object({
  id: z.string(),
  email: z.string(),
  operator: z.boolean(),
  /** Will run the server from the first sign-in on. */
  named: z.boolean(),
  /** The person may not sign in; their tenants and keys stay. */
  disabled: z.boolean(),
  tenants: z.array(z.object({ id: z.string(), name: z.string(), role: z.string() })),
  created_at: z.string(),
  /** Null when the person has not signed in since this is recorded. */
  last_sign_in_at: z.string().nullable(),
})
export type Person = z.infer<typeof Person>

export const PeopleResponse = z.object({ people: z.array(Person) })
export type PeopleResponse = z.infer<typeof PeopleResponse>

export const PersonPutRequest = z.object({
  disabled: z.boolean({ error: issue('field_required', { field: 'disabled', kind: 'boolean' }) }),
})

export const PersonDeleteResponse = z.object({ id: z.string(), deleted: z.literal(true) })
