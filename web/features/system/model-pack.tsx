import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronDown, CircleCheck, CircleDashed, RefreshCw } from 'lucide-react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'

/** The files of the model pack: which are needed, where they belong, and which exist. */
export function ModelPackFiles() {
  const { t } = useI18n()
  const pack = useQuery({
    queryKey: ['system', 'pack'],
    queryFn: api.system.modelPack,
    retry: false,
  })
  if (!pack.data) return null
  const { folder, program, model, complete, running } = pack.data
  const files = [
    { found: program, name: 'llama-server', from: 'system.pack.program' },
    { found: model ?? (complete ? program : null), name: '*.gguf', from: 'system.pack.model' },
  ] as const
  return (
    <details className="group/pack rounded-lg bg-sunken p-4">
      <summary className="target inline-flex cursor-pointer list-none items-center gap-2">
        {t('system.pack')}
        <ChevronDown
          size={16}
          className="flex-none text-ink-3 group-open/pack:rotate-180"
          aria-hidden
        />
      </summary>
      <div className="mt-3 grid gap-3 text-note">
        <p>
          {t('system.pack.about')} <code className="break-all">{folder}</code>
        </p>
        <ul className="grid gap-2">
          {files.map(({ found, name, from }) => (
            <li key={name} className="flex gap-2">
              {found ? (
                <CircleCheck size={16} className="mt-1 flex-none text-good" aria-hidden />
              ) : (
                <CircleDashed size={16} className="mt-1 flex-none text-ink-3" aria-hidden />
              )}
              <span className="min-w-0">
                <code className="break-all">{found ?? name}</code>{' '}
                <span className="text-ink-3">{t(found ? 'system.pack.found' : from)}</span>
              </span>
            </li>
          ))}
        </ul>
        {complete && <p>{t(running ? 'system.pack.running' : 'system.pack.restart')}</p>}
        <p className="flex flex-wrap items-center gap-3">
          <Button
            size="small"
            icon={<RefreshCw size={15} aria-hidden />}
            busy={pack.isFetching}
            onClick={() => void pack.refetch()}
          >
            {t('system.pack.look')}
          </Button>
          <Link
            to="/docs/$page"
            params={{ page: 'models' }}
            hash="pack"
            className="target text-accent"
          >
            {t('docs.pages')}
          </Link>
        </p>
      </div>
    </details>
  )
}
