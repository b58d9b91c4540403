import { appError } from '../../core/errors.ts'
import { ANONYMOUS_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { ConsoleSessions } from '../../http/session.ts'
import type { AuditCode } from '../audit/service.ts'
import type { SignedInUser, Tenants } from '../tenants/service.ts'
import { Me, SwitchRequest } from './model.ts'
import type { Sessions } from './sessions.ts'

export interface PersonRouteParts {
  readonly tenants: Pick<Tenants, 'ofSession'> & MeTenants
  readonly sessions: Pick<ConsoleSessions, 'open'>
  readonly opened: Pick<Sessions, 'switchTo'>
  readonly auditCode: AuditCode
}

const ACCEPT = '/invitations/:id/accept'
const switchBody = jsonBody(SwitchRequest, { bytesMax: ANONYMOUS_BODY_BYTES_MAX })

export type MeTenants = Pick<Tenants, 'tenantsOf'> & {
  readonly tokensOf: (tenantId: string, userId: string) => Promise<{ today: number; most: number }>
}

export async function meOf(tenants: MeTenants, user: SignedInUser): Promise<Me> {
  const { user_id, email, tenant_id, operator, role } = user
  const belongsTo = await tenants.tenantsOf(user_id)
  const { today, most } = await tenants.tokensOf(tenant_id, user_id)
  const used = { tokens_today: today, daily_tokens: most }
  return { user_id, email, tenant_id, operator, role, tenants: belongsTo, ...used }
}

/** The signed-in person, and the tenant that their session is in. */
export function personRoutes(on: Gated, parts: PersonRouteParts) {
  const { tenants, sessions, opened, auditCode } = parts

  async function me(request: Request): Promise<Me> {
    const session = await sessions.open(request)
    const user = session && (await tenants.ofSession(session.userId, session.id))
    if (!user || user.role === null) throw appError('not_signed_in')
    return meOf(tenants, { ...user, role: user.role })
  }

  return on
    .get('/me', ({ request }) => me(request), {
      allow: ['session'],
      response: Me,
      detail: { summary: 'Who is logged in' },
    })
    .post(
      '/tenant',
      async ({ request, server, upload }) => {
        const { tenant_id: tenantId } = await switchBody.read(request, upload)
        const session = await sessions.open(request)
        if (!session) throw appError('not_signed_in')
        const target = await opened.switchTo(session, tenantId)
        if (target !== null) {
          const by = { tenantId, userId: session.userId, keyId: null }
          await auditCode(request, server, { ...by, route: ACCEPT, target })
        }
        return me(request)
      },
      {
        allow: ['session'],
        parse: 'none',
        response: Me,
        detail: { summary: 'Go to another tenant, in this browser', requestBody: switchBody.doc },
      },
    )
}
