import { checked } from '../../core/fields.ts'
import type { Tenants } from '../tenants/service.ts'
import { PLATFORM_DEFAULTS, type TenantSettings, TenantSettingsRequest } from './model.ts'
import type { SettingsStore } from './store.ts'

export interface SettingsOptions {
  readonly store: SettingsStore
  readonly tenants: Pick<Tenants, 'nameOf' | 'renaming'>
}

/** The tenant's settings: the middle level of the fallback app, tenant, platform. */
export function createSettings({ store, tenants }: SettingsOptions) {
  const get = async (tenantId: string): Promise<TenantSettings> =>
    (await store.find(tenantId)) ?? PLATFORM_DEFAULTS

  return {
    get,

    /** Validates the settings of an imported configuration; throws `AppError` (400). */
    checkImported(settings: unknown): TenantSettings {
      const { name: _, ...imported } = checked(TenantSettingsRequest, settings)
      return imported
    },

    /** Whether any of these settings differs from the platform default. */
    isChosen: (settings: TenantSettings): boolean => !same(settings, PLATFORM_DEFAULTS),

    same,

    /** The settings, with the name of the tenant. */
    async read(tenantId: string): Promise<TenantSettings> {
      const [settings, name] = await Promise.all([get(tenantId), tenants.nameOf(tenantId)])
      return { ...settings, name }
    },

    /** Replaces the settings and keeps the name of the tenant. */
    async replace(tenantId: string, settings: TenantSettings): Promise<TenantSettings> {
      await store.put(tenantId, settings)
      return settings
    },

    /** Replaces the settings and the name of the tenant. */
    async save(tenantId: string, request: TenantSettingsRequest): Promise<TenantSettings> {
      const { name, ...settings } = request
      await store.put(tenantId, settings, tenants.renaming(tenantId, name))
      return { ...settings, name: await tenants.nameOf(tenantId) }
    },
  }
}

const same = (a: TenantSettings, b: TenantSettings): boolean =>
  a.model === b.model &&
  a.thinking === b.thinking &&
  a.temperature === b.temperature &&
  a.price_in === b.price_in &&
  a.price_out === b.price_out &&
  a.time_zone === b.time_zone &&
  a.language === b.language &&
  a.mcp_tools.join('\n') === b.mcp_tools.join('\n')

export type Settings = ReturnType<typeof createSettings>
