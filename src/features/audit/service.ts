import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newIdAt } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import type { AuditResponse } from './model.ts'
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

    /** Newest first, of the tenant; for an operator those of the server, too. */
    async list(
      { tenantId, operator }: Principal,
      before: string | null,
      limit: number,
    ): Promise<AuditResponse> {
      const also = operator ? SERVER : tenantId
      const rows = await store.list(tenantId, also, idBefore(before), limit + 1)
      const shown = rows.slice(0, limit)
      const next = rows.length > limit ? (shown.at(-1)?.id ?? null) : null
      const entries = shown.map(({ ts, ...row }) => ({ ...row, ts: new Date(ts).toISOString() }))
      return { entries, next_before: next }
    },

    /** Deletes lines that are too old. */
    async prune(): Promise<void> {
      const before = clock.now() - days() * DAY_MS
      while ((await store.prune(before)) > 0);
    },
  }
}

export type Audit = ReturnType<typeof createAudit>

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-/
/** Sorts after every id. */
const AFTER_ALL = 'g'

/** `before` is the id of a line or a time; an id begins with the 48 bits of its milliseconds. */
function idBefore(before: string | null): string {
  if (before === null) return AFTER_ALL
  if (ID.test(before) && before.length === 36) return before
  const ms = /^\d{4}-/.test(before) ? Date.parse(before) : Number.NaN
  if (!(ms >= 0)) throw appError('query_invalid', { field: 'before' })
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

/**
 * The audited action of each request, by method and route without the surface. Sessions and turns
 * are not audited. A test compares the table with the routes.
 */
export const ACTIONS: Readonly<Record<string, string>> = {
  'POST /keys': 'key.create',
  'PUT /keys/:id': 'key.update',
  'DELETE /keys/:id': 'key.revoke',
  'POST /apps/:id/keys': 'key.create',
  'POST /native/exchange': 'key.create',
  'POST /passkeys': 'passkey.create',
  'PUT /passkeys/:id': 'passkey.update',
  'DELETE /passkeys/:id': 'passkey.delete',
  'POST /passkey/verify': 'passkey.refuse',
  'POST /invitations/:id/accept': 'member.accept',
  'POST /invitations/:id/decline': 'member.decline',
  'POST /apps/:id/shares': 'share.create',
  'PUT /apps/:id/shares/:share': 'share.update',
  'POST /apps/:id/shares/:share/rotate': 'share.rotate',
  'DELETE /apps/:id/shares/:share': 'share.delete',
  'POST /apps': 'app.create',
  'PUT /apps/:id': 'app.update',
  'DELETE /apps/:id': 'app.delete',
  'POST /personas': 'persona.create',
  'PUT /personas/:id': 'persona.update',
  'DELETE /personas/:id': 'persona.delete',
  'POST /personas/:id/default': 'persona.default',
  'DELETE /personas/:id/default': 'persona.default',
  'POST /prompts': 'prompt.create',
  'PUT /prompts/:id': 'prompt.update',
  'DELETE /prompts/:id': 'prompt.delete',
  'POST /schedules': 'schedule.create',
  'PUT /schedules/:id': 'schedule.update',
  'DELETE /schedules/:id': 'schedule.delete',
  'DELETE /memories/:id': 'memory.delete',
  'DELETE /memories': 'memory.delete',
  'POST /webhooks': 'webhook.create',
  'PUT /webhooks/:id': 'webhook.update',
  'POST /webhooks/:id/rotate': 'webhook.rotate',
  'DELETE /webhooks/:id': 'webhook.delete',
  'POST /triggers': 'trigger.create',
  'PUT /triggers/:id': 'trigger.update',
  'DELETE /triggers/:id': 'trigger.delete',
  'PUT /provider': 'provider.update',
  'DELETE /provider': 'provider.delete',
  'PUT /settings': 'settings.update',
  'POST /devices': 'device.create',
  'PUT /devices/:id': 'device.update',
  'DELETE /devices/:id': 'device.delete',
  'POST /devices/pair': 'device.create',
  'POST /devices/activate': 'device.activate',
  'POST /devices/:id/recode': 'device.recode',
  'POST /devices/:id/say': 'device.say',
  'POST /kb/docs': 'document.create',
  'PUT /kb/docs/:id': 'document.update',
  'DELETE /kb/docs/:id': 'document.delete',
  'POST /kb/collections': 'collection.create',
  'PUT /kb/collections/:id': 'collection.update',
  'DELETE /kb/collections/:id': 'collection.delete',
  'POST /kb/files': 'source.create',
  'POST /files/:id/keep': 'source.create',
  'POST /kb/urls': 'source.create',
  'PUT /kb/sources/:id': 'source.update',
  'DELETE /kb/sources/:id': 'source.delete',
  'POST /agent/asks/:id': 'ask.answer',
  'POST /mcp-servers': 'server.create',
  'PUT /mcp-servers/:id': 'server.update',
  'PUT /mcp-servers/:id/tools': 'server.approve',
  'POST /mcp-servers/:id/call': 'server.call',
  'DELETE /mcp-servers/:id': 'server.delete',
  'POST /mcp-servers/:id/sign-in': 'server.signing',
  'GET /mcp/callback': 'server.signin',
  'DELETE /mcp-servers/:id/sign-in': 'server.signout',
  'POST /import': 'import',
  'PUT /system': 'system.update',
  'POST /system/backups': 'system.backup',
  'GET /system/backups/download': 'system.download',
  'POST /system/people': 'person.create',
  'POST /system/people/:id/sign-out': 'person.signout',
  'POST /system/people/:id/link': 'person.link',
  'PUT /system/people/:id': 'person.update',
  'DELETE /system/people/:id': 'person.delete',
  'PUT /system/tenants/:id': 'system.tenant',
  'POST /members': 'member.create',
  'PUT /members/:id': 'member.update',
  'DELETE /members/:id': 'member.delete',
}
