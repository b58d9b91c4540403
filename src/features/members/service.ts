import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { MEMBERS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import type { InviteRequest, Member, MemberPutRequest } from './model.ts'
import type { MemberRow, MemberStore } from './store.ts'

/** A mail to somebody who was invited. */
export interface InvitationMail {
  readonly email: string
  readonly tenantId: string
  readonly inviterId: string
  readonly language: InviteRequest['language']
}

export interface MembersOptions {
  readonly store: MemberStore
  readonly clock: Clock
  /** Throws `rate_limited` for a tenant that invites too many people a day. */
  readonly checkInvitations: (tenantId: string) => Promise<void>
  /** Sends an invitation in the background; false where there is no mail. */
  readonly mail: (invited: InvitationMail) => Promise<boolean>
  /** The statement that revokes the keys which a person has made in the tenant. */
  readonly revokeOfPerson: (tenantId: string, userId: string) => Statement
  /** Hides what the person has said in the tenant; `clear` deletes it once that is stored. */
  readonly talks: {
    readonly removal: (tenantId: string, userId: string) => readonly Statement[]
    readonly clear: () => Promise<void>
  }
  /** Ends open turns and streams of people and keys that the tenant no longer admits. */
  readonly onRemoved: (tenantId: string) => Promise<void>
}

/** What goes with a member who is removed. */
export interface RemovedToo {
  readonly keys: boolean
  readonly talks: boolean
}

const missing = () => appError('not_found', { what: 'member' })
/** Nothing tells whether an invited address is known here. */
const memberOf = (row: MemberRow): Member => ({
  ...row,
  user_id: row.joined_at === null ? null : row.user_id,
})

/** Who belongs to a tenant, and as what. */
export function createMembers(options: MembersOptions) {
  const { store, clock, checkInvitations, mail, revokeOfPerson, talks, onRemoved } = options

  /** The error for a change that the store refused. */
  async function refusal(tenantId: string, id: string) {
    return (await store.find(tenantId, id)) ? appError('last_owner') : missing()
  }

  return {
    async list(tenantId: string): Promise<{ members: Member[] }> {
      return { members: (await store.list(tenantId)).map(memberOf) }
    },

    /** Throws `member_exists`, and `quota_members` at the quota. */
    async invite({ tenantId, userId }: Principal, { email, role, language }: InviteRequest) {
      if (await store.has(tenantId, email)) throw appError('member_exists')
      await checkInvitations(tenantId)
      const at = clock.iso()
      const id = newId()
      const row = { id, tenantId, email, role, at, invitedBy: userId }
      if (!(await store.insert(row, MEMBERS_MAX))) {
        if (await store.has(tenantId, email)) throw appError('member_exists')
        throw appError('quota_members', { max: MEMBERS_MAX })
      }
      const member = await store.find(tenantId, id)
      if (!member) throw missing()
      return {
        ...memberOf(member),
        mailed: await mail({ email, tenantId, inviterId: userId ?? '', language }),
      }
    },

    /** The role applies from the member's next request on. Throws `last_owner`. */
    async change(tenantId: string, id: string, given: MemberPutRequest): Promise<Member> {
      const { role, daily_tokens: dailyTokens } = given
      if (role !== undefined && !(await store.setRole(tenantId, id, role))) {
        throw await refusal(tenantId, id)
      }
      if (dailyTokens !== undefined) await store.setDailyTokens(tenantId, id, dailyTokens)
      const member = await store.find(tenantId, id)
      if (!member) throw missing()
      return memberOf(member)
    },

    /**
     * Ends a membership at once; owners may end any, other members only their own. With
     * `keys` the keys that the member has made in the tenant end, too, and with `talks` the
     * person's conversations in it are deleted. Throws `last_owner`.
     */
    async remove({ tenantId, userId, role }: Principal, id: string, also: RemovedToo) {
      const member = await store.find(tenantId, id)
      if (role !== 'owner' && member?.user_id !== userId) throw appError('forbidden_role')
      const person = member?.user_id ?? null
      const maker = also.keys ? person : null
      const statements = [
        ...(maker ? [revokeOfPerson(tenantId, maker)] : []),
        ...(also.talks && person ? talks.removal(tenantId, person) : []),
      ]
      if (!(await store.remove(tenantId, id, statements))) throw await refusal(tenantId, id)
      await onRemoved(tenantId)
      if (also.talks) await talks.clear()
      return { id, deleted: true as const, revoked_keys: maker ? (member?.keys ?? 0) : 0 }
    },
  }
}

export type Members = ReturnType<typeof createMembers>
