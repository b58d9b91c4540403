import type { UseQueryResult } from '@tanstack/react-query'
import { RotateCw, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { withIndexKeys } from '../lib/index-keys.ts'
import { useExplain } from '../lib/services.tsx'
import { Button } from './button.tsx'

/** A placeholder of the size of the list, so that the page does not jump. */
export function Loading({ rows = 4 }: { readonly rows?: number }) {
  const { t } = useI18n()
  return (
    <div className="loading" role="status" aria-label={t('state.loading')}>
      {withIndexKeys(Array.from({ length: rows })).map(({ key }) => (
        <div key={key} className="skeleton h-9" />
      ))}
    </div>
  )
}

interface FaultProps {
  readonly error: unknown
  readonly onRetry: () => void
}

export function Fault({ error, onRetry }: FaultProps) {
  const { t } = useI18n()
  const explain = useExplain()
  return (
    <div className="grid justify-items-center gap-3 px-6 py-12 text-center" role="alert">
      <TriangleAlert size={26} className="text-warn" aria-hidden />
      <p className="text-ink-2">{explain(error)}</p>
      <Button size="small" icon={<RotateCw size={15} aria-hidden />} onClick={onRetry}>
        {t('action.retry')}
      </Button>
    </div>
  )
}

interface EmptyProps {
  readonly icon: ReactNode
  readonly title: string
  readonly text?: ReactNode
  readonly action?: ReactNode
}

export function Empty({ icon, title, text, action }: EmptyProps) {
  return (
    <div className="grid justify-items-center gap-2 px-6 py-14 text-center">
      <div className="mb-1 text-ink-3">{icon}</div>
      <p className="font-medium">{title}</p>
      {text && <p className="max-w-md text-balance text-ink-2">{text}</p>}
      {action && <div className="mt-3">{action}</div>}
    </div>
  )
}

interface LoadedProps<T> {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error'> & { readonly refetch: () => unknown }
  readonly rows?: number
  readonly children: (data: T) => ReactNode
}

/** Loading, error or data of a query; stale data stays visible during a refresh. */
export function Loaded<T>({ query, rows, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <Fault error={query.error} onRetry={() => void query.refetch()} />
  return <Loading {...(rows === undefined ? {} : { rows })} />
}
