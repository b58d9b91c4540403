import { Elysia } from 'elysia'
import { appError } from '../core/errors.ts'
import type { Principal, PrincipalKind } from '../core/principal.ts'
import type { Sender } from './body.ts'
import type { PatienceFor } from './body-timeout.ts'

/** Headers that an authenticated answer carries besides its own, such as the rate-limit trio. */
export interface Admission {
  readonly principal: Principal
  readonly headers: Readonly<Record<string, string>>
  /** Throws 401 when the credential has been revoked since; absent where none can be. */
  readonly confirm?: () => Promise<void>
}

const nothing = async () => {}

/** Keys of apps and devices are told that they cannot manage (specification, Errors 403). */
const refusalOf = (kind: PrincipalKind) =>
  appError(kind === 'app' || kind === 'device' ? 'forbidden_key_kind' : 'forbidden', { who: kind })

/**
 * A credential gate: who is asking, then what that kind of credential may do. Both run before any
 * body is read (contract, Order of checks). The machine side and the console side have a gate each,
 * so that a credential of one side is never even looked at on the other.
 */
export const gate = (
  name: string,
  admit: (request: Request) => Promise<Admission>,
  patienceFor: PatienceFor,
) =>
  new Elysia({ name: 'gate', seed: name })
    .derive({ as: 'scoped' }, async ({ request, server, set }) => {
      const { principal, headers, confirm = nothing } = await admit(request)
      Object.assign(set.headers, headers)
      const patience = patienceFor(request, server, principal.tenantId)
      const sender: Sender = { patience, confirm }
      return { principal, sender }
    })
    .macro({
      allow: (kinds: readonly PrincipalKind[]) => ({
        transform: ({ principal }) => {
          if (!principal) throw appError('unauthorized')
          if (!kinds.includes(principal.kind)) throw refusalOf(principal.kind)
        },
        detail: { security: [{ [name]: [] }] },
      }),
    })

export type Gate = ReturnType<typeof gate>
