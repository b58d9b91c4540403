import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import type { App, AppInput, AppVersion } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Loaded } from '../../ui/state.tsx'
import { isKnownField, useFieldNames } from './field-names.ts'
import { useFieldValues } from './field-values.ts'

interface ComparisonProps {
  readonly app: App
  readonly version: AppVersion
}

/** The fields in which a version differs from what the app is now, as the form shows them. */
export function AppComparison({ app, version: { version } }: ComparisonProps) {
  const { t } = useI18n()
  const nameOf = useFieldNames()
  const wordsOf = useFieldValues()
  const query = useQuery({
    queryKey: ['apps', app.id, 'versions', version],
    queryFn: () => api.apps.version(app.id, version),
  })
  return (
    <Loaded query={query}>
      {(then) => {
        const changed = (Object.keys(then) as (keyof AppInput)[]).filter(
          (name) => isKnownField(name) && JSON.stringify(then[name]) !== JSON.stringify(app[name]),
        )
        if (changed.length === 0) return <p className="text-ink-2">{t('apps.versions.same')}</p>
        return (
          <dl className="grid gap-4">
            {changed.map((name) => (
              <div key={name}>
                <dt className="font-medium">{nameOf(name)}</dt>
                <dd className="mt-1 grid gap-3 sm:grid-cols-2">
                  <Side label={t('apps.versions.then')} text={wordsOf(name, then)} />
                  <Side label={t('apps.versions.now')} text={wordsOf(name, app)} />
                </dd>
              </div>
            ))}
          </dl>
        )
      }}
    </Loaded>
  )
}

const Side = ({ label, text }: { readonly label: string; readonly text: string }) => (
  <div className="min-w-0 rounded-lg bg-sunken p-3">
    <span className="block text-small text-ink-2">{label}</span>
    <span className="text-note break-words whitespace-pre-wrap">{text}</span>
  </div>
)
