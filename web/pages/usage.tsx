import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../api/index.ts'
import type { Usage } from '../api/types.ts'
import { useI18n } from '../i18n/index.tsx'
import { Bars, Stat } from '../ui/bars.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

const DAY_MS = 86_400_000

export function UsagePage() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['usage'], queryFn: api.usage })
  return (
    <Page title={t('nav.usage')} about={t('usage.about')}>
      <Loaded query={query}>{(usage) => <Shown usage={usage} />}</Loaded>
    </Page>
  )
}

function Shown({ usage }: { readonly usage: Usage }) {
  const { t, locale } = useI18n()
  const week = usage.daily.reduce((sum, { count }) => sum + count, 0)
  const number = (value: number) => value.toLocaleString(locale)
  const bars = usage.daily.map(({ day, count }) => {
    // The server counts days in UTC, so they are shown in UTC.
    const name = (options: Intl.DateTimeFormatOptions) =>
      new Date(day * DAY_MS).toLocaleDateString(locale, { ...options, timeZone: 'UTC' })
    const title = t('usage.day', { day: name({ dateStyle: 'long' }), count })
    return { label: name({ month: 'numeric', day: 'numeric' }), value: count, title }
  })
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Stat label={t('usage.total')} value={number(usage.total)} />
        <Stat label={t('usage.week')} value={number(week)} />
        <Stat label={t('usage.keys')} value={number(usage.key_count)} />
      </div>
      <Section title={t('usage.daily')} about={t('usage.daily.about')}>
        <div className="card p-6">
          <Bars bars={bars} name={t('usage.daily')} />
        </div>
      </Section>
      {usage.total === 0 && (
        <p className="mt-4 text-ink-2">
          {t('usage.none')}{' '}
          <Link to="/app/keys" className="text-accent underline underline-offset-2">
            {t('nav.keys')}
          </Link>
        </p>
      )}
    </>
  )
}
