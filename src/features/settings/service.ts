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

  /** What this call wrote, also when another has written since, with collections that were kept. */
  async function withKept(tenantId: string, settings: TenantSettings): Promise<TenantSettings> {
    const { collections = (await get(tenantId)).collections, ...written } = settings
    return collections ? { ...written, collections } : written
  }

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
      return withKept(tenantId, settings)
    },

    /** Replaces the settings and the name of the tenant. */
    async save(tenantId: string, request: TenantSettingsRequest): Promise<TenantSettings> {
      const { name, ...settings } = request
      await store.put(tenantId, settings, tenants.renaming(tenantId, name))
      const [saved, named] = await Promise.all([
        withKept(tenantId, settings),
        tenants.nameOf(tenantId),
      ])
      return { ...saved, name: named }
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
  a.reminders === b.reminders &&
  a.titles === b.titles &&
  a.memory === b.memory &&
  a.may_ask === b.may_ask &&
  a.ocr === b.ocr &&
  a.ocr_model === b.ocr_model &&
  a.mcp_tools.join('\n') === b.mcp_tools.join('\n') &&
  JSON.stringify(a.collections ?? null) === JSON.stringify(b.collections ?? null)

export type Settings = ReturnType<typeof createSettings>
