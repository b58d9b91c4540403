import type { Clock } from '../../core/clock.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { type ExportAnswer, type ExportParts, exportConfig } from './export.ts'
import { type ImportParts, importApps, importPersonas, importSettings } from './import.ts'
import type { ImportRequest, ImportResult } from './model.ts'

export interface TransferOptions extends ImportParts {
  readonly clock: Clock
  readonly personas: ImportParts['personas'] & ExportParts['personas']
}

/** Export and import of a tenant's configuration (specification, Export and import). */
export function createTransfer({ clock, ...parts }: TransferOptions) {
  const imports = createSemaphore({ perKey: 1 })

  return {
    export: (tenantId: string): Promise<ExportAnswer> => exportConfig(tenantId, parts, clock.iso()),

    /**
     * Imports what it can and notes the rest. Imports of one tenant run one after another, because
     * each looks at what exists: an import that is sent twice adds nothing twice.
     */
    import: (tenantId: string, { config, mode }: ImportRequest): Promise<ImportResult> =>
      imports.run(tenantId, async () => {
        const notes = { skipped: [], errors: [] }
        const run = { ...parts, tenantId, mode, notes }
        const imported = {
          personas: await importPersonas(run, config.personas),
          apps: await importApps(run, config.apps),
          settings: await importSettings(run, config.settings),
        }
        return { imported, ...notes }
      }),
  }
}

export type Transfer = ReturnType<typeof createTransfer>
