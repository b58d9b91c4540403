import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../api/index.ts'
import type { AppInput } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { toolName } from '../../i18n/tool-words.ts'
import { listed } from '../../lib/listed.ts'
import { Badge } from '../../ui/page.tsx'
import { Fault, Loading } from '../../ui/state.tsx'
import { effective, type Source } from './effective.ts'

const SOURCES: Readonly<Record<Source, Key>> = {
  app: 'source.app',
  tenant: 'source.tenant',
  platform: 'source.platform',
}

interface LineProps {
  readonly label: string
  readonly from: Source
  readonly children: ReactNode
}

function Line({ label, from, children }: LineProps) {
  const { t } = useI18n()
  return (
    <div className="grid gap-1 py-3">
      <dt className="flex items-center justify-between gap-3 text-small text-ink-3">
        {label}
        <Badge tone={from === 'app' ? 'accent' : undefined}>{t(SOURCES[from])}</Badge>
      </dt>
      <dd className="break-words">{children}</dd>
    </div>
  )
}

/** The effective settings of the app, while it is edited. */
export function Preview({ input }: { readonly input: AppInput }) {
  const { t, language, locale } = useI18n()
  const settings = useQuery({ queryKey: ['settings'], queryFn: api.settings.read })
  const personas = useQuery({ queryKey: ['personas'], queryFn: api.personas.list })
  const failed = [settings, personas].find(({ error, data }) => error && data === undefined)
  const known = settings.data && personas.data
  const now = known ? effective(input, settings.data, personas.data.personas) : null
  const onOff = (on: boolean) => t(on ? 'state.on' : 'state.off')
  return (
    <aside className="card p-5 lg:sticky lg:top-6" aria-label={t('preview.title')}>
      <h2>{t('preview.title')}</h2>
      <p className="text-small text-ink-2">{t('preview.about')}</p>
      {failed && <Fault error={failed.error} onRetry={() => void failed.refetch()} />}
      {now === null ? (
        !failed && <Loading rows={6} />
      ) : (
        <dl className="mt-2 divide-y divide-line">
          <Line label={t('preview.prompt')} from={now.prompt.from}>
            {now.prompt.persona && <p className="font-medium">{now.prompt.persona}</p>}
            <p className="line-clamp-6 text-note whitespace-pre-wrap text-ink-2">
              {now.prompt.value ?? t('preview.prompt.platform')}
            </p>
          </Line>
          <Line label={t('field.model')} from={now.model.from}>
            {now.model.value ?? t('preview.model.platform')}
          </Line>
          <Line label={t('field.thinking')} from={now.thinking.from}>
            {onOff(now.thinking.value)}
          </Line>
          <Line label={t('field.temperature')} from={now.temperature.from}>
            {now.temperature.value ?? t('preview.temperature.platform')}
          </Line>
          <Line label={t('nav.kb')} from={now.kb.from}>
            {onOff(now.kb.value)}
          </Line>
          <Line label={t('apps.tools')} from={now.tools.from}>
            {now.tools.value === null
              ? t('apps.tools.all')
              : listed(
                  now.tools.value.map((name) => toolName(name, language)),
                  locale,
                ) || t('apps.tools.none')}
          </Line>
        </dl>
      )}
    </aside>
  )
}
