import { z } from 'zod'
import { emailAddress } from '../../core/email.ts'
import { issue } from '../../core/errors.ts'
import { dailyTokens } from '../../core/fields.ts'
import type { Role } from '../../core/principal.ts'

const role = z.enum(['owner', 'editor', 'viewer'] satisfies Role[], {
  error: issue('role_invalid'),
})

export const InviteRequest = z.lazy(() =>
  z.object({
    email: emailAddress,
    role,
    /** The language of the mail; without one it has both. */
    language: z
      .enum(['zh', 'en'], { error: issue('field_invalid', { field: 'language' }) })
      .optional(),
  }),
)
export type InviteRequest = z.infer<typeof InviteRequest>
/** What is omitted is kept. */
export const MemberPutRequest = z.lazy(() =>
  z.object({
    role: role.optional(),
    daily_tokens: dailyTokens.optional(),
  }),
)
export type MemberPutRequest = z.infer<typeof MemberPutRequest>

/** A person who belongs to the tenant, or was invited and has not accepted yet. */
export const Member = z.object({
  id: z.string(),
  /** Null until the person has accepted the invitation. */
  user_id: z.string().nullable(),
  email: z.string(),
  role,
  /** Null until the person has accepted the invitation. */
  joined_at: z.string().nullable(),
  invited_at: z.string(),
  /** Valid keys that this person has made. */
  keys: z.int(),
  /** Tokens that this person may use a day in the console; 0: no limit. */
  daily_tokens: z.int(),
})
export type Member = z.infer<typeof Member>

/** `mailed`: the mail server took an invitation. When false, the owner has to tell the person. */
export const InvitedMember = Member.extend({ mailed: z.boolean() })
export const MembersResponse = z.lazy(() => z.object({ members: z.array(Member) }))
export const MemberDeleteResponse = z.lazy(() =>
  z.object({
    id: z.string(),
    deleted: z.literal(true),
    /** Keys of this person that were revoked as well. */
    revoked_keys: z.int(),
  }),
)
