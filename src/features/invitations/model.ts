import { z } from 'zod'
import type { Role } from '../../core/principal.ts'

const role = z.enum(['owner', 'editor', 'viewer'] satisfies Role[])

/** An invitation, as the invited person sees it. */
export const Invitation = z.lazy(() =>
  z.object({
    id: z.string(),
    tenant_id: z.string(),
    /** Name of the tenant. */
    tenant: z.string(),
    role,
    /** Address of the person who invites. */
    invited_by: z.string().nullable(),
    invited_at: z.string(),
  }),
)
export type Invitation = z.infer<typeof Invitation>

export const InvitationsResponse = z.lazy(() => z.object({ invitations: z.array(Invitation) }))
export const InvitationAnswer = z.lazy(() => z.object({ id: z.string(), tenant_id: z.string() }))
