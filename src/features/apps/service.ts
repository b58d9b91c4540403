import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { APPS_MAX } from '../../core/limits/contract.ts'
import type { Keys, Maker } from '../keys/service.ts'
import { type App, type AppKeyRequest, type AppUpsertRequest, ImportedApp } from './model.ts'
import type { AppStore } from './store.ts'

export interface AppsOptions {
  readonly store: AppStore
  readonly keys: Pick<Keys, 'issueForApp' | 'limitsWithin' | 'revokeOfApp' | 'onRevoked'>
  readonly clock: Clock
}

const missing = () => appError('not_found', { what: 'app' })

/** The tenant's apps. Every call answers 404 for an app that is not the tenant's. */
export function createApps({ store, keys, clock }: AppsOptions) {
  async function read(tenantId: string, id: string): Promise<App> {
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
      const app = { id: newId(), ...request, created_at: clock.iso() }
      if (!(await store.insert(tenantId, app, APPS_MAX))) {
        throw appError('quota_apps', { max: APPS_MAX })
      }
      return app
    },

    /**
     * Replaces every field; an omitted one falls back to the tenant's setting. Answers with what
     * this call wrote, even when another call has replaced it since.
     */
    async replace(tenantId: string, id: string, request: AppUpsertRequest): Promise<App> {
      const { created_at } = await read(tenantId, id)
      if (!(await store.replace(tenantId, id, request))) throw missing()
      return { id, ...request, created_at }
    },

    /** Deletes the app and revokes its app-level keys; their open turns end. */
    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      if (!(await store.remove(tenantId, id, keys.revokeOfApp(tenantId, id)))) throw missing()
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

export type Apps = ReturnType<typeof createApps>
