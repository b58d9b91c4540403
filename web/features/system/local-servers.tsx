import { useQuery } from '@tanstack/react-query'
import { Server } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { LocalModels } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/form.tsx'

/** Model servers that were found on this machine, each to be used by one click. */
export function LocalServers({ onUsed }: UsedProps) {
  const { t } = useI18n()
  const found = useQuery({
    queryKey: ['system', 'local'],
    queryFn: api.system.localModels,
    retry: false,
  })
  if (!found.data) return null
  const { servers } = found.data
  if (servers.length === 0) {
    return <p className="text-note text-ink-3">{t('system.local.none')}</p>
  }
  return (
    <ul className="grid gap-3">
      {servers.map((server) => (
        <LocalServer key={server.base_url} server={server} onUsed={onUsed} />
      ))}
    </ul>
  )
}

interface UsedProps {
  /** Called when a model of this machine is used. */
  readonly onUsed?: (() => void) | undefined
}

interface ServerProps extends UsedProps {
  readonly server: LocalModels['servers'][number]
}

function LocalServer({ server, onUsed }: ServerProps) {
  const { t } = useI18n()
  const [model, setModel] = useState(server.models[0] ?? '')
  const use = useAction(
    () => api.system.save({ MB_LLM_BASE_URL: server.base_url, MB_LLM_MODEL: model }),
    {
      done: 'system.local.used',
      refresh: ['system', 'status', 'provider', 'models'],
      onDone: () => onUsed?.(),
    },
  )
  return (
    <li className="flex flex-wrap items-end gap-3 rounded-lg bg-sunken p-4">
      <p className="flex min-w-0 basis-full items-center gap-2">
        <Server size={16} className="flex-none text-ink-3" aria-hidden />
        <span className="min-w-0">{t('system.local.found', { name: server.name })}</span>
      </p>
      <div className="min-w-0 flex-1 basis-48">
        <SelectField
          label={t('system.kind.MODEL')}
          value={model}
          choices={server.models.map((id) => ({ value: id, label: id }))}
          onPick={setModel}
        />
      </div>
      <Button
        kind="primary"
        busy={use.isPending}
        aria-label={t('system.local.use.of', { name: server.name })}
        onClick={() => use.mutate(undefined)}
      >
        {t('system.local.use')}
      </Button>
    </li>
  )
}
