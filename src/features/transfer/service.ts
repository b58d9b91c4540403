import type { Clock } from '../../core/clock.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { exportConfig } from './export.ts'
import { type ImportParts, importApps, importPersonas, importSettings } from './import.ts'
import type { ConfigExport, ImportRequest, ImportResult } from './model.ts'

export interface TransferOptions extends ImportParts {
  readonly clock: Clock
}

/** A tenant's configuration as a document, out and in (specification, Export and import). */
export function createTransfer({ clock, ...parts }: TransferOptions) {
  const { personas, apps, settings } = parts
  const inTurn = createSemaphore({ perKey: 1 }).run

  return {
    async export(tenantId: string): Promise<ConfigExport> {
      const { personas: library } = await personas.list(tenantId)
      const { apps: published } = await apps.list(tenantId)
      return exportConfig(library, published, await settings.get(tenantId), clock.iso())
    },

    /**
     * Best effort: what cannot be imported is told, and the rest goes on. One import of a tenant
     * after another, for each looks first what is there: sent twice, it adds nothing twice.
     */
    import: (tenantId: string, { config, mode }: ImportRequest): Promise<ImportResult> =>
      inTurn(tenantId, async () => {
        const notes = { skipped: [], errors: [] }
        const into = { ...parts, tenantId, mode, notes }
        const imported = {
          personas: await importPersonas(into, config.personas),
          apps: await importApps(into, config.apps),
          settings: await importSettings(into, config.settings),
        }
        return { imported, ...notes }
      }),
  }
}

export type Transfer = ReturnType<typeof createTransfer>
