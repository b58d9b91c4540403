import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { TENANTS_SHOWN_MAX } from '../../core/limits/machine.ts'
import type { Invitation } from './model.ts'
import type { InvitationRow, InvitationStore } from './store.ts'

export interface InvitationsOptions {
  readonly store: InvitationStore
  readonly clock: Pick<Clock, 'iso'>
  readonly nameOf: (tenant: Pick<InvitationRow, 'name' | 'owner'>) => string
}

/** An invitation that was answered. */
interface Answered {
  readonly id: string
  readonly tenantId: string
}

const missing = () => appError('not_found', { what: 'invitation' })

/** The invitations of a signed-in person, who becomes a member only by accepting one. */
export function createInvitations({ store, clock, nameOf }: InvitationsOptions) {
  const open = (userId: string) => store.list(userId, TENANTS_SHOWN_MAX)

  async function find(userId: string, id: string): Promise<Answered> {
    const row = (await open(userId)).find((one) => one.id === id)
    if (!row) throw missing()
    return { id, tenantId: row.tenant_id }
  }

  return {
    async list(userId: string): Promise<{ invitations: Invitation[] }> {
      const invitations = (await open(userId)).map((row) => ({
        id: row.id,
        tenant_id: row.tenant_id,
        tenant: nameOf(row),
        role: row.role,
        invited_by: row.invited_by ?? row.owner,
        invited_at: row.invited_at,
      }))
      return { invitations }
    },

    /** Throws `not_found` for an invitation that is not this person's, or was answered. */
    async accept(userId: string, id: string): Promise<Answered> {
      const found = await find(userId, id)
      if (!(await store.accept(id, userId, clock.iso()))) throw missing()
      return found
    },

    /** As `accept`. */
    async decline(userId: string, id: string): Promise<Answered> {
      const found = await find(userId, id)
      if (!(await store.decline(id, userId))) throw missing()
      return found
    },

    /** Accepts the invitation of this tenant; null when there is none. */
    async acceptOf(userId: string, tenantId: string): Promise<string | null> {
      const row = (await open(userId)).find((one) => one.tenant_id === tenantId)
      if (!row || !(await store.accept(row.id, userId, clock.iso()))) return null
      return row.id
    },
  }
}

export type Invitations = ReturnType<typeof createInvitations>
