import { z } from 'zod'

/** A change: who made it, with which credential, and what was changed; never the values. */
const AuditEntry = z.lazy(() =>
  z.object({
    id: z.string(),
    ts: z.string(),
    /** E-mail address of the person; null where a key was used. */
    person: z.string().nullable(),
    key_id: z.string().nullable(),
    /** Such as `key.revoke`. */
    action: z.string(),
    /**
     * Id of what was changed, or the names of settings of the server; null where there is only one,
     * such as the settings of the tenant.
     */
    target: z.string().nullable(),
    /** The name that it had then. */
    target_name: z.string().nullable(),
    /** Address of the client. */
    address: z.string(),
  }),
)

export const AuditResponse = z.lazy(() =>
  z.object({
    entries: z.array(AuditEntry),
    /** `before` of the next page; null on the last one. */
    next_before: z.string().nullable(),
  }),
)
export type AuditResponse = z.infer<typeof AuditResponse>
