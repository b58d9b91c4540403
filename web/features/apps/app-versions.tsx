import { useQuery, useQueryClient } from '@tanstack/react-query'
import { History } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { App, AppVersion } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { useAction } from '../../lib/services.tsx'
import { useTimes } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { AppComparison } from './app-comparison.tsx'
import { useFieldNames } from './field-names.ts'
import { showApp } from './show-app.ts'

interface VersionsProps {
  readonly app: App
  /** The form then shows what the app is now, and nothing that was typed before. */
  readonly onRestored: () => void
}

/** What the app was before its last changes. */
export function AppVersions({ app, onRestored }: VersionsProps) {
  const { t } = useI18n()
  const client = useQueryClient()
  const { exact } = useTimes()
  const [compared, setCompared] = useState<AppVersion | null>(null)
  const [asked, setAsked] = useState<AppVersion | null>(null)
  const query = useQuery({
    queryKey: ['apps', app.id, 'versions'],
    queryFn: () => api.apps.versions(app.id),
  })
  const restore = useAction(
    async ({ version }: AppVersion) =>
      api.apps.update(app.id, await api.apps.version(app.id, version)),
    {
      refresh: ['apps'],
      onGone: () => setAsked(null),
      done: 'apps.versions.restored',
      onDone: (now) => {
        setAsked(null)
        showApp(client, now)
        onRestored()
      },
    },
  )
  return (
    <Section title={t('apps.versions')} about={t('apps.versions.about')}>
      <div className="card overflow-hidden">
        <Loaded query={query} rows={2}>
          {({ versions }) =>
            versions.length === 0 ? (
              <Empty icon={<History />} title={t('apps.versions.empty')} />
            ) : (
              <ul className="divide-y divide-line">
                {versions.map((one) => (
                  <Row
                    key={one.version}
                    version={one}
                    onCompare={() => setCompared(one)}
                    onRestore={() => setAsked(one)}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
      <Dialog
        title={t('apps.versions.compare')}
        about={compared ? exact(compared.at) : undefined}
        open={compared !== null}
        onClose={() => setCompared(null)}
        wide
      >
        {compared && <AppComparison app={app} version={compared} />}
      </Dialog>
      <Confirm
        title={t('apps.versions.restore.title', { at: asked ? exact(asked.at) : '' })}
        loss={t('apps.versions.restore.loss')}
        action={t('apps.versions.restore')}
        open={asked !== null}
        busy={restore.isPending}
        onConfirm={() => asked && restore.mutate(asked)}
        onClose={() => setAsked(null)}
      />
    </Section>
  )
}

interface RowProps {
  readonly version: AppVersion
  readonly onCompare: () => void
  readonly onRestore: () => void
}

function Row({ version: { at, person, changed }, onCompare, onRestore }: RowProps) {
  const { t, locale } = useI18n()
  const { exact } = useTimes()
  const nameOf = useFieldNames()
  const who = person ?? t('apps.versions.key')
  const what = t('apps.versions.changed', { who, fields: listed(changed.map(nameOf), locale) })
  const act = (label: string, onClick: () => void) => (
    <Button
      size="small"
      aria-label={t('system.summary', { name: label, value: `${exact(at)}, ${what}` })}
      onClick={onClick}
    >
      {label}
    </Button>
  )
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-5 py-3">
      <div className="min-w-0">
        <span className="block break-words">{what}</span>
        <span className="block text-small text-ink-2">{exact(at)}</span>
      </div>
      <div className="flex gap-2">
        {act(t('apps.versions.compare'), onCompare)}
        <ForEditors>{act(t('apps.versions.restore'), onRestore)}</ForEditors>
      </div>
    </li>
  )
}
