import type { Gated } from '../../http/gate.ts'
import type { AuditCode } from '../audit/service.ts'
import { InvitationAnswer, InvitationsResponse } from './model.ts'
import type { Invitations } from './service.ts'

export interface InvitationRouteParts {
  readonly invitations: Invitations
  readonly auditCode: AuditCode
}

const ACCEPT = '/invitations/:id/accept'
const DECLINE = '/invitations/:id/decline'

/** The invitations of the signed-in person. The audit of the inviting tenant tells the answer. */
export function invitationRoutes(on: Gated, { invitations, auditCode }: InvitationRouteParts) {
  return on
    .get('/invitations', ({ principal }) => invitations.list(principal.userId ?? ''), {
      allow: ['session'],
      response: InvitationsResponse,
      detail: { summary: 'List invitations to other tenants' },
    })
    .post(
      ACCEPT,
      async ({ principal: { userId }, params, request, server }) => {
        const { id, tenantId } = await invitations.accept(userId ?? '', params.id)
        const by = { tenantId, userId, keyId: null }
        await auditCode(request, server, { ...by, route: ACCEPT, target: id })
        return { id, tenant_id: tenantId }
      },
      {
        allow: ['session'],
        parse: 'none',
        response: InvitationAnswer,
        detail: { summary: 'Accept an invitation and become a member' },
      },
    )
    .post(
      DECLINE,
      async ({ principal: { userId }, params, request, server }) => {
        const { id, tenantId } = await invitations.decline(userId ?? '', params.id)
        const by = { tenantId, userId, keyId: null }
        await auditCode(request, server, { ...by, route: DECLINE, target: id })
        return { id, tenant_id: tenantId }
      },
      {
        allow: ['session'],
        parse: 'none',
        response: InvitationAnswer,
        detail: { summary: 'Decline an invitation' },
      },
    )
}
