import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newIdAt } from '../../core/crypto.ts'
import { AUDIT_SCAN_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import { ACTIONS } from './actions.ts'
import type { AuditResponse } from './model.ts'
import type { AuditQuery } from './query.ts'
import type { AuditStore } from './store.ts'

export interface AuditOptions {
  readonly store: AuditStore
  readonly clock: Clock
  readonly log: Logger
  /** Days that lines are kept. */
  readonly days: () => number
}

/** Who changed something: a person, a key, or a device by its key. */
export type AuditedBy = Pick<Principal, 'tenantId' | 'userId' | 'keyId'>

/** A request that was answered with success. */
export interface AuditedRequest {
  readonly principal: AuditedBy
  readonly method: string
  /** Pattern of its path, without the surface. */
  readonly route: string
  readonly target: string | null
  /** The name of the target, where it is known already; else the name that it has now. */
  readonly name?: string | null
  readonly address: string
}

/** A change of `/auth`, or one that was authorised by a code: no hook of the console sees it. */
export interface MadeByCode extends AuditedBy {
  /** Pattern of its path, without the surface. */
  readonly route: string
  /** Without one: POST. */
  readonly method?: string
  readonly target: string
  readonly name?: string
}

/** Writes the audit line of a change that was authorised by a code. */
export type AuditCode = (
  request: Request,
  server: { requestIP(request: Request): { readonly address: string } | null } | null,
  made: MadeByCode,
) => Promise<void>

/** Lines with this owner are about the server; its operators see them. */
const SERVER = ''
/** Changes to the server and to its people, whatever tenant the operator is in. */
const isOfServer = (action: string) => action.startsWith('system.') || action.startsWith('person.')

/** Who changed what, and when, for the owners of a tenant. */
export function createAudit({ store, clock, log, days }: AuditOptions) {
  const nameOf = async (tenantId: string, action: string, target: string | null) =>
    target === null ? null : store.nameOf(tenantId, action.split('.')[0] ?? '', target)

  return {
    /** The name of what a request is about to delete; null for a request that deletes nothing. */
    async nameBefore(
      { tenantId }: Principal,
      method: string,
      route: string,
      target: string | null,
    ) {
      const action = ACTIONS[`${method} ${route}`]
      return method === 'DELETE' && action ? nameOf(tenantId, action, target) : null
    },

    /** Whether such a request is audited. */
    covers: (method: string, route: string) => `${method} ${route}` in ACTIONS,

    /**
     * Writes the line before the answer is sent, so that an acknowledged change has one even after
     * a crash. The change itself is stored already: a failed line does not turn it into an error.
     */
    async record(request: AuditedRequest): Promise<void> {
      const { principal, method, route, target, address } = request
      const action = ACTIONS[`${method} ${route}`]
      if (action === undefined) return
      const ts = clock.now()
      try {
        const name = request.name ?? (await nameOf(principal.tenantId, action, target))
        await store.insert({
          tenantId: isOfServer(action) ? SERVER : principal.tenantId,
          id: newIdAt(ts),
          ts,
          userId: principal.userId,
          key_id: principal.keyId,
          action,
          target,
          target_name: name,
          address,
        })
      } catch (error) {
        log.error('audit line not written', { action, ...errorFields(error) })
      }
    },

    /**
     * Newest first, of the tenant; for an operator those of the server, too. A page with a filter
     * looks at `AUDIT_SCAN_MAX` lines and may hold none of them though others follow.
     */
    async list({ tenantId, operator }: Principal, query: AuditQuery): Promise<AuditResponse> {
      const { before, limit, filter } = query
      const from = { tenantId, also: operator ? SERVER : tenantId, before }
      const isWhole = filter.actor === null && filter.actions === null
      const window = isWhole ? limit + 1 : AUDIT_SCAN_MAX
      const rows = await store.list(from, window, filter, limit + 1)
      const shown = rows.slice(0, limit)
      const entries = shown.map(({ ts, ...row }) => ({ ...row, ts: new Date(ts).toISOString() }))
      if (rows.length > limit) return { entries, next_before: shown.at(-1)?.id ?? null }
      return { entries, next_before: isWhole ? null : await store.endOf(from, window) }
    },

    /** Deletes lines that are too old. */
    async prune(): Promise<void> {
      const before = clock.now() - days() * DAY_MS
      while ((await store.prune(before)) > 0);
    },
  }
}

export type Audit = ReturnType<typeof createAudit>
