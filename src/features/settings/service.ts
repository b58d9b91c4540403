import { checked } from '../../core/fields.ts'
import { PLATFORM_DEFAULTS, type TenantSettings, TenantSettingsRequest } from './model.ts'
import type { SettingsStore } from './store.ts'

/** The tenant's settings: the middle level of the fallback app, tenant, platform. */
export function createSettings({ store }: { store: SettingsStore }) {
  const get = async (tenantId: string): Promise<TenantSettings> =>
    (await store.find(tenantId)) ?? PLATFORM_DEFAULTS

  return {
    get,

    /** Validates the settings of an imported configuration; throws `AppError` (400). */
    checkImported: (settings: unknown): TenantSettings => checked(TenantSettingsRequest, settings),

    /** Whether any of these settings differs from the platform default. */
    isChosen: (settings: TenantSettings): boolean => !same(settings, PLATFORM_DEFAULTS),

    same,

    async replace(tenantId: string, settings: TenantSettings): Promise<TenantSettings> {
      await store.put(tenantId, settings)
      return settings
    },
  }
}

const same = (a: TenantSettings, b: TenantSettings): boolean =>
  a.model === b.model &&
  a.thinking === b.thinking &&
  a.temperature === b.temperature &&
  a.price_in === b.price_in &&
  a.price_out === b.price_out &&
  a.mcp_tools.join('\n') === b.mcp_tools.join('\n')

export type Settings = ReturnType<typeof createSettings>
