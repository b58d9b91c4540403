import { appError } from '../core/errors.ts'
import type { Role } from '../core/principal.ts'

const RANK: Readonly<Record<Role, number>> = { viewer: 0, editor: 1, owner: 2 }

/** Whether somebody with this role may do what takes `least`. */
const isAtLeast = (role: Role | undefined, least: Role): boolean =>
  role !== undefined && RANK[role] >= RANK[least]

/**
 * The least role of the routes for people, by method and route, where it is not the usual one: a
 * viewer may read, an editor may change (contract 2, section 8, Tenants and members).
 */
const LEAST: Readonly<Record<string, Role>> = {
  // The studio. A viewer's sessions are checked where they are used.
  'POST /console/agent': 'viewer',
  'POST /console/agent/check': 'viewer',
  'POST /console/voice': 'viewer',
  'POST /console/asr': 'viewer',
  'POST /console/tts': 'viewer',
  'POST /console/tts/stream': 'viewer',
  'POST /console/kb/search': 'viewer',
  // Sessions of their own.
  'DELETE /console/sessions/:id?': 'viewer',
  'PUT /console/conversations/:id': 'viewer',
  // Who is in the tenant. Everybody may leave: the service tells that from removing others.
  'GET /console/members': 'owner',
  'POST /console/members': 'owner',
  'PUT /console/members/:id': 'owner',
  'DELETE /console/members/:id': 'viewer',
  'POST /auth/tenant': 'viewer',
}

/** What runs the server asks for an operator, whatever the role in the tenant. */
const FOR_OPERATORS = '/console/system'

export function leastRole(method: string, route: string): Role {
  if (route === FOR_OPERATORS || route.startsWith(`${FOR_OPERATORS}/`)) return 'viewer'
  return (
    LEAST[`${method} ${route}`] ?? (method === 'GET' || method === 'HEAD' ? 'viewer' : 'editor')
  )
}

/** Throws `forbidden_role` for somebody whose role does not reach. */
export function checkRole(role: Role | undefined, least: Role): void {
  if (!isAtLeast(role, least)) throw appError('forbidden_role')
}
