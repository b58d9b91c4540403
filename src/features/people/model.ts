import { z } from 'zod'
import { emailAddress } from '../../core/email.ts'
import { issue } from '../../core/errors.ts'

/** A person who can sign in to this server, as its operators see them. */
export const Person = z.lazy(() =>
  z.object({
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
    /** Input and output of the UTC day, in the console of all their tenants. */
    tokens_today: z.int(),
  }),
)
export type Person = z.infer<typeof Person>

export const PeopleResponse = z.lazy(() => z.object({ people: z.array(Person) }))
export type PeopleResponse = z.infer<typeof PeopleResponse>

const flagOf = (field: string) =>
  z.boolean({ error: issue('field_type', { field, kind: 'boolean' }) }).optional()

/** What is omitted is kept. */
export const PersonPutRequest = z.lazy(() =>
  z.object({
    disabled: flagOf('disabled'),
    operator: flagOf('operator'),
  }),
)
export type PersonPutRequest = z.infer<typeof PersonPutRequest>

export const PersonAddRequest = z.lazy(() =>
  z.object({ email: emailAddress, operator: flagOf('operator') }),
)

/** A link that signs a person in once. */
export const PersonLink = z.lazy(() => z.object({ url: z.string(), expires_at: z.string() }))
export type PersonLink = z.infer<typeof PersonLink>

export const PersonDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)
