import { z } from 'zod'
import { emailAddress } from '../../core/email.ts'
import { issue } from '../../core/errors.ts'
import type { Role } from '../../core/principal.ts'

const role = z.enum(['owner', 'editor', 'viewer'] satisfies Role[], {
  error: issue('role_invalid'),
})

export const InviteRequest = z.object({ email: emailAddress, role })
export const RoleRequest = z.object({ role })

/** A person who belongs to the tenant, or was invited and has not accepted yet. */
export const Member = z.object({
  id: z.string(),
  email: z.string(),
  role,
  /** Null until the person has accepted the invitation. */
  joined_at: z.string().nullable(),
  invited_at: z.string(),
  /** Valid keys that this person has made. */
  keys: z.int(),
})
export type Member = z.infer<typeof Member>

/** `mailed`: an invitation is sent by mail. When false, the owner has to tell the person. */
export const InvitedMember = Member.extend({ mailed: z.boolean() })
export const MembersResponse = z.object({ members: z.array(Member) })
export const MemberDeleteResponse = z.object({
  id: z.string(),
  deleted: z.literal(true),
  /** Keys of this person that were revoked as well. */
  revoked_keys: z.int(),
})
