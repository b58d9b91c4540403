import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { APPS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import type { Keys, Maker } from '../keys/service.ts'
import {
  type App,
  type AppKeyRequest,
  AppUpsertRequest,
  type AppVersion,
  ImportedApp,
} from './model.ts'
import type { AppStore } from './store.ts'

export interface AppsOptions {
  readonly store: AppStore
  readonly keys: Pick<Keys, 'issueForApp' | 'limitsWithin' | 'revokeOfApp' | 'onRevoked'>
  /** Statements that delete what else is the app's. */
  readonly removal: (tenantId: string, appId: string) => readonly Statement[]
  readonly clock: Clock
}

const missing = () => appError('not_found', { what: 'app' })

/** The tenant's apps. Every call answers 404 for an app that is not the tenant's. */
export function createApps({ store, keys, removal, clock }: AppsOptions) {
  async function read(tenantId: string, id: string): Promise<App> {
    return (await found(tenantId, id)).app
  }

  async function found(tenantId: string, id: string) {
    const app = await store.find(tenantId, id)
    if (!app) throw missing()
    return app
  }

  return {
    list: async (tenantId: string) => ({ apps: await store.list(tenantId) }),

    names: store.names,

    read,

    /** Throws `quota_apps` at the quota. */
    async create(tenantId: string, request: AppUpsertRequest): Promise<App> {
      const { collections = null } = request
      const app = { id: newId(), ...request, collections, created_at: clock.iso() }
      if (!(await store.insert(tenantId, app, APPS_MAX))) {
        throw appError('quota_apps', { max: APPS_MAX })
      }
      return app
    },

    /**
     * Replaces every field; an omitted one falls back to the tenant's setting, but omitted
     * collections stay. What was there is kept as a version. Answers with what this call wrote,
     * even when another call has replaced it since.
     */
    async replace(by: ChangedBy, id: string, request: AppUpsertRequest): Promise<App> {
      const { tenantId, userId, keyId } = by
      for (;;) {
        const { app: was, version } = await found(tenantId, id)
        const { collections = was.collections } = request
        const app = { id, ...request, collections, created_at: was.created_at }
        const changed = changedFields(was, app)
        if (changed.length === 0) return app
        const kept = { version, at: clock.iso(), userId, keyId, changed, was }
        // False when another change was first: this one then replaces what that one wrote.
        if (await store.replace(tenantId, id, app, kept)) return app
      }
    },

    /** The last versions that changes have replaced, newest first. */
    async versions(tenantId: string, id: string): Promise<{ versions: AppVersion[] }> {
      await read(tenantId, id)
      return { versions: await store.versions(tenantId, id) }
    },

    /** The app as it was in a version; fields that it did not have then are as when omitted. */
    async version(tenantId: string, id: string, version: string): Promise<App> {
      const { created_at } = await read(tenantId, id)
      const number = /^[1-9]\d{0,14}$/.test(version) ? Number(version) : 0
      const was = await store.version(tenantId, id, number)
      if (!was) throw appError('not_found', { what: 'version' })
      return { ...AppUpsertRequest.parse({ name: '-' }), collections: null, id, created_at, ...was }
    },

    /** Deletes the app and revokes its app-level keys; their open turns end. */
    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      const also = [keys.revokeOfApp(tenantId, id), ...removal(tenantId, id)]
      if (!(await store.remove(tenantId, id, also))) throw missing()
      await keys.onRevoked(tenantId)
      return { id, deleted: true }
    },

    /** Validates an app of an imported configuration; throws `AppError` (400). */
    checkImported: (item: unknown): ImportedApp => checked(ImportedApp, item),

    /** Throws `above_own_limit` for limits above those of the key that asks. */
    async issueKey(maker: Maker, id: string, { name, ...wanted }: AppKeyRequest) {
      const { tenantId, keyId: madeBy, userId: personId = null } = maker
      await read(tenantId, id)
      const limits = await keys.limitsWithin(maker, {
        ...(wanted.rate_limit === undefined ? {} : { rateLimit: wanted.rate_limit }),
        ...(wanted.daily_tokens === undefined ? {} : { dailyTokens: wanted.daily_tokens }),
      })
      const issued = await keys.issueForApp(tenantId, id, { name, madeBy, personId, ...limits })
      if (!issued) throw missing()
      return { ...issued, app_id: id }
    },
  }
}

/** Who changes an app: a person or a key. */
export type ChangedBy = Pick<Principal, 'tenantId' | 'userId' | 'keyId'>

/** The names of the fields that differ. */
function changedFields(was: App, now: App): string[] {
  const before: Readonly<Record<string, unknown>> = was
  return Object.entries(now)
    .filter(([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value))
    .map(([name]) => name)
}

export type Apps = ReturnType<typeof createApps>
