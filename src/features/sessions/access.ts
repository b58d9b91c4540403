import { appError } from '../../core/errors.ts'
import { ANONYMOUS } from '../../core/fields.ts'
import type { Principal } from '../../core/principal.ts'
import { type Statement, sql } from '../../storage/db.ts'

/** What began a session: a person at the console, a visitor of a share, a device or another key. */
export type Origin = 'person' | 'website' | 'device' | 'api'

/** The kinds of conversations that a list may be asked for, by the word in its query. */
export const KINDS = {
  mine: 'person',
  website: 'website',
  devices: 'device',
  api: 'api',
} as const satisfies Record<string, Origin>
export type Kind = keyof typeof KINDS

/** What a session becomes that this caller begins. */
export function beginning(
  { userId, shareId, deviceId }: Principal,
  sessionId: string,
): { readonly origin: Origin; readonly userId: string | null } {
  if (userId !== null && sessionId !== ANONYMOUS) return { origin: 'person', userId }
  const origin = shareId !== undefined ? 'website' : deviceId !== null ? 'device' : 'api'
  return { origin, userId: null }
}

/**
 * Whose a session is that exists for nobody: a branch until it is whole, and what is being deleted.
 * No person has these ids.
 */
export const UNFINISHED = 'unfinished branch'
export const GONE = 'deleted talk'

/**
 * Whether a session exists for the caller. A person's talk exists for that person and for general
 * keys; a session without a person for all but viewers. `owner` is undefined for an unknown one.
 */
export function isSeen(principal: Principal, owner: string | null | undefined): boolean {
  if (owner === UNFINISHED || owner === GONE) return false
  if (owner === undefined || principal.kind === 'general') return true
  if (owner !== null) return owner === principal.userId
  return principal.role !== 'viewer'
}

/** Names that runs give their sessions: of themselves, of a schedule, of a trigger. */
const OF_RUNS = /^(?:run|sch|trg)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-|$)/

/**
 * Throws `not_found` for a turn in a session that does not exist for the caller. A session that a
 * run names begins with a run: who began it before would read what the run says, or keep it out.
 * General keys read all in any case.
 */
export function checkTurn(
  principal: Principal,
  sessionId: string,
  owner: string | null | undefined,
): void {
  const isForRuns = owner === undefined && principal.kind !== 'general' && !principal.run
  if (isForRuns && OF_RUNS.test(sessionId)) throw appError('not_found', { what: 'session' })
  // Everybody speaks in the session of callers who name none.
  if (sessionId === ANONYMOUS || isSeen(principal, owner)) return
  throw appError('not_found', { what: 'session' })
}

/** Which sessions of a tenant a list shows. */
export interface Scope {
  readonly tenantId: string
  /** The person who asks; null for a key, which sees all. */
  readonly userId: string | null
  /** Whether sessions without a person are shown. */
  readonly seesOthers: boolean
  /** Null: of all kinds. */
  readonly kind: Kind | null
}

/** Throws `forbidden_role` for a viewer who asks for sessions of others. */
export function scopeOf({ tenantId, userId, role }: Principal, kind: Kind | null = null): Scope {
  const seesOthers = role !== 'viewer'
  if (kind !== null && kind !== 'mine' && !seesOthers) throw appError('forbidden_role')
  return { tenantId, userId, seesOthers, kind }
}

/** Of a table: whether the session exists for anybody. */
const isThere = (session: string): string =>
  `coalesce(${session}.user_id, '') NOT IN ('${UNFINISHED}', '${GONE}')`

/**
 * Of a table: whether the session is there and has turns, or one that is not over, or is an empty
 * branch.
 */
export const isUsed = (session: string): string => `(${isThere(session)}
  AND (${session}.turn_count > 0 OR ${session}.family IS NOT NULL
    OR EXISTS (SELECT 1 FROM talk_turn d
    WHERE d.tenant_id = ${session}.tenant_id AND d.session_id = ${session}.id
      AND d.state <> 'ended')))`

/** The condition on rows of the table `session`, which is named so in the statement. */
export function inScope(scope: Scope): Statement {
  const { sql: text, args } = ofScope(scope)
  return { sql: `${text} AND ${isUsed('session')}`, args }
}

function ofScope({ tenantId, userId, seesOthers, kind }: Scope): Statement {
  if (userId === null) return sql`session.tenant_id = ${tenantId}`
  if (kind === 'mine' || (kind === null && !seesOthers)) {
    return sql`session.tenant_id = ${tenantId} AND session.user_id = ${userId}`
  }
  if (kind !== null) {
    return sql`session.tenant_id = ${tenantId} AND session.user_id IS NULL
      AND session.origin = ${KINDS[kind]}`
  }
  return sql`session.tenant_id = ${tenantId}
    AND (session.user_id = ${userId} OR session.user_id IS NULL)`
}
