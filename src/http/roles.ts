import { appError } from '../core/errors.ts'
import type { Role } from '../core/principal.ts'

const RANK: Readonly<Record<Role, number>> = { viewer: 0, editor: 1, owner: 2 }

/** Whether `role` is `least` or higher. */
const isAtLeast = (role: Role | undefined, least: Role): boolean =>
  role !== undefined && RANK[role] >= RANK[least]

/**
 * Exceptions to the usual least role of console routes, by method and route. Usually a viewer may
 * read and an editor may change.
 */
const LEAST: Readonly<Record<string, Role>> = {
  // The studio. The service checks which sessions a viewer may change.
  'POST /console/agent': 'viewer',
  'POST /console/agent/check': 'viewer',
  'POST /console/agent/asks/:id': 'viewer',
  'POST /console/voice': 'viewer',
  'POST /console/asr': 'viewer',
  'POST /console/tts': 'viewer',
  'POST /console/tts/stream': 'viewer',
  'POST /console/kb/search': 'viewer',
  // A viewer may change what is remembered of themselves.
  'POST /console/memories': 'viewer',
  'PUT /console/memories/:id': 'viewer',
  'DELETE /console/memories/:id': 'viewer',
  'DELETE /console/memories': 'viewer',
  'POST /console/memories/suggest': 'viewer',
  // Files of their own, for what they say in the studio.
  'POST /console/files': 'viewer',
  'POST /console/files/:id/refresh': 'viewer',
  'DELETE /console/files/:id': 'viewer',
  // What they were told themselves.
  'POST /console/notices/:id/read': 'viewer',
  // Stores nothing.
  'POST /console/schedules/preview': 'viewer',
  // Own reminders; the service refuses schedules.
  'DELETE /console/schedules/:id': 'viewer',
  // A viewer may change only their own sessions.
  'DELETE /console/sessions/:id?': 'viewer',
  'PUT /console/conversations/:id': 'viewer',
  'POST /console/sessions/:id/branch': 'viewer',
  // The service checks that they may read it.
  'PUT /console/sessions/:id/turns/:seq/feedback': 'viewer',
  'GET /console/feedback': 'editor',
  'POST /console/agent/turns/:id/stop': 'viewer',
  'DELETE /console/agent/turns/:id': 'viewer',
  // A key that opens the whole tenant. The service knows which of the others are such keys.
  'POST /console/keys': 'owner',
  'GET /console/export': 'editor',
  // Members. Everybody may leave: the service distinguishes that from removing others.
  'GET /console/members': 'owner',
  'POST /console/members': 'owner',
  'PUT /console/members/:id': 'owner',
  'DELETE /console/members/:id': 'viewer',
  'POST /auth/tenant': 'viewer',
  // The person's own affairs, whatever they may do in the tenant that they are in.
  'POST /auth/invitations/:id/accept': 'viewer',
  'POST /auth/invitations/:id/decline': 'viewer',
  'POST /auth/passkeys/options': 'viewer',
  'POST /auth/passkeys': 'viewer',
  'PUT /auth/passkeys/:id': 'viewer',
  'DELETE /auth/passkeys/:id': 'viewer',
}

/** Routes below require an operator, with any role in the tenant. */
const FOR_OPERATORS = '/console/system'

export function leastRole(method: string, route: string): Role {
  if (route === FOR_OPERATORS || route.startsWith(`${FOR_OPERATORS}/`)) return 'viewer'
  return (
    LEAST[`${method} ${route}`] ?? (method === 'GET' || method === 'HEAD' ? 'viewer' : 'editor')
  )
}

/** Throws `forbidden_role` when `role` is lower than `least`. */
export function checkRole(role: Role | undefined, least: Role): void {
  if (!isAtLeast(role, least)) throw appError('forbidden_role')
}
