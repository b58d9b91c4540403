import { DAY_MS } from '../core/clock.ts'
import { LOCAL_DOMAIN } from '../core/email.ts'
import { INVITATIONS_PER_ADDRESS_MAX, INVITATIONS_PER_DAY_MAX } from '../core/limits/machine.ts'
import type { Keys } from '../features/keys/service.ts'
import type { Delivery } from '../features/login/delivery.ts'
import {
  createMembers,
  type InvitationMail,
  type MembersOptions,
} from '../features/members/service.ts'
import { createMemberStore } from '../features/members/store.ts'
import type { Tenants } from '../features/tenants/service.ts'
import { createRateLimiter } from '../http/request-limits.ts'
import type { Jobs } from '../jobs/runner.ts'
import type { Adapters } from './adapters.ts'

interface MemberNeeds {
  readonly delivery: Delivery
  readonly jobs: Jobs
  readonly tenants: Tenants
  readonly keys: Keys
  readonly talks: MembersOptions['talks']
}

/** Longest wait for a mail server, after which an invitation counts as sent. */
const MAIL_MS_MAX = 8_000

/** Wires the members of a tenant. */
export function openMembers(adapters: Adapters, needs: MemberNeeds) {
  const { delivery, jobs, tenants, keys, talks } = needs
  const { db, clock, shared } = adapters
  const limiter = createRateLimiter(shared.openWindows('invitation', DAY_MS))
  const mails = shared.openWindows('invitation mail', DAY_MS)

  /** All tenants together send one address few mails a day, because anybody can invite anybody. */
  async function mail({ email, tenantId, inviterId, language }: InvitationMail): Promise<boolean> {
    if (delivery.medium() !== 'mail' || email.endsWith(LOCAL_DOMAIN)) return false
    if (!(await mails.count(email, INVITATIONS_PER_ADDRESS_MAX)).counted) return false
    const sent = Promise.withResolvers<boolean>()
    const cancel = clock.after(MAIL_MS_MAX, () => sent.resolve(true))
    async function send(signal: AbortSignal): Promise<boolean> {
      const inviter = await tenants.emailOf(inviterId)
      const workspace = await tenants.nameOf(tenantId)
      return inviter !== '' && delivery.invite(email, { inviter, workspace, language }, signal)
    }
    // Goes on by itself where the inviter has not waited for it.
    jobs.run('send invitation', (signal) =>
      send(signal)
        .then(sent.resolve)
        .finally(() => sent.resolve(false)),
    )
    return sent.promise.finally(cancel)
  }
  return createMembers({
    store: createMemberStore(db),
    clock,
    async checkInvitations(tenantId) {
      await limiter.take(tenantId, INVITATIONS_PER_DAY_MAX)
    },
    mail,
    revokeOfPerson: keys.revokeOfPerson,
    talks,
    onRemoved: keys.onRevoked,
  })
}
