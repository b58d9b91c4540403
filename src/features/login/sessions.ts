import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import type { Invitations } from '../invitations/service.ts'
import type { SignedInUser, Tenants } from '../tenants/service.ts'
import type { SessionKey, SessionStore } from './session-store.ts'

export interface SessionServiceOptions {
  readonly store: SessionStore
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'home'>
  readonly invitations: Pick<Invitations, 'acceptOf'>
}

/** A session that its person has opened. */
interface PersonSession extends SessionKey {
  readonly userId: string
}

/** In which tenant a session is, and when it ends before its token does. */
export function createSessions({ store, clock, tenants, invitations }: SessionServiceOptions) {
  return {
    /** Moves a session to a tenant of its person; null when there is none. */
    async moveHome(session: PersonSession): Promise<SignedInUser | null> {
      const user = await tenants.home(session.userId)
      if (!user) return null
      return (await store.move(session, user.tenant_id, user.user_id)) ? user : null
    },

    /**
     * Moves this session, and no other of the person, to a tenant. To go to a tenant that has
     * invited the person accepts the invitation, whose id is then returned. Throws `not_found` for
     * any other tenant that they are no member of.
     */
    async switchTo(session: PersonSession, tenantId: string): Promise<string | null> {
      if (await store.move(session, tenantId, session.userId)) return null
      const accepted = await invitations.acceptOf(session.userId, tenantId)
      if (accepted === null || !(await store.move(session, tenantId, session.userId))) {
        throw appError('not_found', { what: 'tenant' })
      }
      return accepted
    },

    /** Ends one session on all servers. */
    end: store.end,

    /** Ends all sessions of a person. */
    endAll: store.endAll,

    /**
     * Forgets sessions that have expired. Not to be called soon after the clock was set: one that
     * has ended would begin again when the clock is set back.
     */
    prune: () => store.prune(clock.now()),
  }
}

export type Sessions = ReturnType<typeof createSessions>
