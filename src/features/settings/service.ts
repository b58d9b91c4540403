import { checked } from '../../core/validate.ts'
import { PLATFORM_DEFAULTS, type TenantSettings, TenantSettingsRequest } from './model.ts'
import type { SettingsStore } from './store.ts'

/** The tenant's own level of the fallback app, tenant, platform. */
export function createSettings({ store }: { store: SettingsStore }) {
  const get = async (tenantId: string): Promise<TenantSettings> =>
    (await store.find(tenantId)) ?? PLATFORM_DEFAULTS

  return {
    get,

    /** Settings of an imported configuration; 400 with what is wrong with them. */
    checkImported: (settings: unknown): TenantSettings => checked(TenantSettingsRequest, settings),

    /** Whether a tenant with these settings has chosen anything. */
    isChosen: (settings: TenantSettings): boolean => !same(settings, PLATFORM_DEFAULTS),

    same,

    async replace(tenantId: string, settings: TenantSettings): Promise<TenantSettings> {
      await store.put(tenantId, settings)
      return settings
    },
  }
}

const same = (a: TenantSettings, b: TenantSettings): boolean =>
  a.model === b.model && a.thinking === b.thinking && a.temperature === b.temperature

export type Settings = ReturnType<typeof createSettings>
