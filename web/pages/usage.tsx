import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import type { ApiKeyMeta, App, Me, Member, Settings, Usage } from '../api/types.ts'
import { downloadBlob } from '../features/markdown/download.ts'
import { costOf, isPriced, useCost } from '../features/usage/cost.ts'
import { csvOf } from '../features/usage/csv.ts'
import { UsageTables } from '../features/usage/tables.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Bars, Stat } from '../ui/bars.tsx'
import { Button } from '../ui/button.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

const DAY_MS = 86_400_000

interface Facts {
  readonly usage: Usage
  readonly settings: Settings
  readonly apps: readonly App[]
  readonly keys: readonly ApiKeyMeta[]
  readonly me: Me
  readonly members: readonly Member[]
}

/** Loads the figures together with names and prices, which are shown beside them. */
async function load(): Promise<Facts> {
  const [usage, settings, { apps }, { keys }, me] = await Promise.all([
    api.usage(),
    api.settings.read(),
    api.apps.list(),
    api.keys.list(),
    api.auth.me(),
  ])
  const { members } = me.role === 'owner' ? await api.members.list() : { members: [] }
  return { usage, settings, apps, keys, me, members }
}

export function UsagePage() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['usage', 'page'], queryFn: load })
  const { data } = query
  const actions = data && (
    <Button icon={<Download size={16} aria-hidden />} onClick={() => saveCsv(data)}>
      {t('usage.csv')}
    </Button>
  )
  return (
    <Page title={t('nav.usage')} about={t('usage.about')} actions={actions}>
      <Loaded query={query}>{(facts) => <Shown {...facts} />}</Loaded>
    </Page>
  )
}

function saveCsv({ usage, apps, keys }: Facts): void {
  const file = new Blob([csvOf(usage, { apps, keys })], { type: 'text/csv;charset=utf-8' })
  downloadBlob(file, `moonbase-usage-${new Date().toISOString().slice(0, 10)}.csv`)
}

function Shown({ usage, settings, apps, keys, me, members }: Facts) {
  const { t, locale } = useI18n()
  const cost = useCost()
  const number = (value: number) => value.toLocaleString(locale)
  const { input, output } = usage.tokens.today
  const week = {
    input_tokens: usage.daily.reduce((sum, day) => sum + day.input_tokens, 0),
    output_tokens: usage.daily.reduce((sum, day) => sum + day.output_tokens, 0),
  }
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        <Stat
          label={t('usage.today')}
          value={number(input + output)}
          note={t('usage.in.out', { input: number(input), output: number(output) })}
        />
        <Stat
          label={t('usage.week')}
          value={number(week.input_tokens + week.output_tokens)}
          note={t('usage.in.out', {
            input: number(week.input_tokens),
            output: number(week.output_tokens),
          })}
        />
        <Stat
          label={t('usage.total')}
          value={number(usage.total)}
          note={t('usage.keys', { count: number(usage.key_count) })}
        />
        <Stat
          label={t('usage.cost.week')}
          value={isPriced(settings) ? cost(costOf(week, settings)) : '–'}
          note={
            <Link to="/app/settings" className="underline underline-offset-2">
              {t(isPriced(settings) ? 'usage.cost.about' : 'usage.cost.set')}
            </Link>
          }
        />
      </div>
      <Days usage={usage} />
      {usage.total === 0 && (
        <p className="mt-4 text-ink-2">
          {t('usage.none')}{' '}
          <Link to="/app/keys" className="text-accent underline underline-offset-2">
            {t('nav.keys')}
          </Link>
        </p>
      )}
      <UsageTables {...{ usage, settings, apps, keys, me, members }} />
    </>
  )
}

/** The last days as columns: tokens, or calls. */
function Days({ usage }: { readonly usage: Usage }) {
  const { t, locale } = useI18n()
  const [shown, setShown] = useState<'tokens' | 'calls'>('tokens')
  const bars = usage.daily.map(({ day, count, input_tokens, output_tokens }) => {
    // The server counts days in UTC, so they are shown in UTC.
    const name = (options: Intl.DateTimeFormatOptions) =>
      new Date(day * DAY_MS).toLocaleDateString(locale, { ...options, timeZone: 'UTC' })
    const values = {
      day: name({ dateStyle: 'long' }),
      count,
      input: input_tokens.toLocaleString(locale),
      output: output_tokens.toLocaleString(locale),
    }
    const title = t(shown === 'tokens' ? 'usage.day.tokens' : 'usage.day.calls', values)
    const value = shown === 'tokens' ? input_tokens + output_tokens : count
    return { label: name({ month: 'numeric', day: 'numeric' }), value, title }
  })
  const choices = ['tokens', 'calls'] as const
  const choice = (
    <fieldset className="segmented" aria-label={t('usage.daily')}>
      {choices.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={shown === name}
          onClick={() => setShown(name)}
        >
          {t(`usage.show.${name}`)}
        </button>
      ))}
    </fieldset>
  )
  return (
    <Section title={t('usage.daily')} about={t('usage.daily.about')} actions={choice}>
      <div className="card p-6">
        <Bars bars={bars} name={t('usage.daily')} />
      </div>
    </Section>
  )
}
