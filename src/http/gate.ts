import { Elysia } from 'elysia'
import { forbidden } from '../core/errors.ts'
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

const REFUSALS: Readonly<Record<PrincipalKind, string>> = {
  general: '通用密钥无权调用此接口',
  app: '应用级密钥无管理权限',
  device: '设备密钥无管理权限',
  session: '登录会话无权调用此接口',
}

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
          if (principal && kinds.includes(principal.kind)) return
          throw forbidden(principal ? REFUSALS[principal.kind] : '无权调用此接口')
        },
        detail: { security: [{ [name]: [] }] },
      }),
    })

export type Gate = ReturnType<typeof gate>
