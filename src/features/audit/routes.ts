import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { ClientAddress, SocketAddresses } from '../../http/client-address.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import { AuditResponse } from './model.ts'
import { parseAuditQuery } from './query.ts'
import type { Audit } from './service.ts'

export interface AuditParts {
  readonly audit: Pick<Audit, 'covers' | 'nameBefore' | 'record' | 'list'>
  readonly addressOf: ClientAddress
}

/** The fields that the hook reads of a request that passed a gate. */
interface Answered {
  readonly request: Request
  readonly server: SocketAddresses | null
  readonly route: string
  /** Absent where the path has none. */
  readonly params?: Readonly<Record<string, string | undefined>>
  readonly responseValue: unknown
  readonly principal?: Principal
}

/** Routes that act on what their path names, although their answer has an id of its own. */
const ON_PATH: ReadonlySet<string> = new Set(['/devices/:id/say'])

/** The id of what a request has created, else the id in its path. */
function targetOf(
  method: string,
  pattern: string,
  params: Answered['params'],
  answer: unknown,
): string | null {
  const made = (answer as { id?: unknown } | null)?.id
  if (method === 'POST' && typeof made === 'string' && !ON_PATH.has(pattern)) return made
  return params?.share ?? params?.id ?? null
}

/** The pattern of a path, without the surface. */
const patternOf = (route: string) => route.slice(route.indexOf('/', 1))

/**
 * Writes a line of the audit after each change by a route of its group. The hooks destructure the
 * context: a hook that passes its whole context on makes Elysia parse cookies, queries and headers
 * for every route of the application.
 */
export function auditHooks({ audit, addressOf }: AuditParts) {
  /** The names of what requests are about to delete, or have told. */
  const names = new WeakMap<Request, string | null>()
  /** What requests have changed, where neither their path nor their answer tells. */
  const told = new WeakMap<Request, string>()
  /** Requests that have changed what is the caller's alone. */
  const spared = new WeakSet<Request>()

  const before = async ({ request, route, params, principal }: Answered): Promise<void> => {
    if (!principal || request.method !== 'DELETE') return
    const pattern = patternOf(route)
    const target = targetOf('DELETE', pattern, params, null)
    names.set(request, await audit.nameBefore(principal, 'DELETE', pattern, target))
  }

  const after = async ({
    request,
    server,
    route,
    params,
    responseValue,
    principal,
  }: Answered): Promise<void> => {
    const pattern = patternOf(route)
    if (!principal || !audit.covers(request.method, pattern) || spared.has(request)) return
    await audit.record({
      principal,
      method: request.method,
      route: pattern,
      target: told.get(request) ?? targetOf(request.method, pattern, params, responseValue),
      name: names.get(request) ?? null,
      address: addressOf(request, server),
    })
  }
  type Hook = (context: unknown) => Promise<void>
  const tell = (request: Request, target: string, name?: string) => {
    told.set(request, target)
    if (name !== undefined) names.set(request, name)
  }
  const spare = (request: Request) => void spared.add(request)
  return { before: before as Hook, after: after as Hook, tell, spare }
}

const QUERY = queryDoc({
  before: 'id of an entry, or ISO 8601; only entries before it',
  limit: 'entries returned, 1 to 200; default 50',
  actor: 'who changed it: the e-mail address of a person, or the id of a key',
  action: 'an action such as key.revoke, or all on a noun such as key',
})

/** GET /console/audit, for owners and operators. */
export const auditRoutes = (on: Gated, { audit }: AuditParts) =>
  on.get(
    '/audit',
    ({ principal, request }) => {
      if (principal.role !== 'owner' && !principal.operator) throw appError('forbidden_role')
      return audit.list(principal, parseAuditQuery(new URL(request.url).searchParams))
    },
    {
      allow: ['session'],
      response: AuditResponse,
      detail: { summary: 'Who changed what, newest first', parameters: QUERY },
    },
  )
