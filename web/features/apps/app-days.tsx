import { useState } from 'react'
import type { Usage } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Bars } from '../../ui/bars.tsx'
import { Section } from '../../ui/page.tsx'

const DAY_MS = 86_400_000
const KINDS = ['calls', 'errors', 'tokens'] as const

interface AppDaysProps {
  readonly daily: Usage['daily']
  /** Errors of the same days. */
  readonly errors: readonly number[]
}

/** What an assistant did on each of the last days. */
export function AppDays({ daily, errors }: AppDaysProps) {
  const { t, locale } = useI18n()
  const [shown, setShown] = useState<(typeof KINDS)[number]>('calls')
  const bars = daily.map(({ day, count, input_tokens, output_tokens }, place) => {
    // The server counts days in UTC, so they are shown in UTC.
    const name = (options: Intl.DateTimeFormatOptions) =>
      new Date(day * DAY_MS).toLocaleDateString(locale, { ...options, timeZone: 'UTC' })
    const values = {
      calls: count,
      errors: errors[place] ?? 0,
      tokens: input_tokens + output_tokens,
    }
    const title = t('activity.day', {
      day: name({ dateStyle: 'long' }),
      calls: values.calls.toLocaleString(locale),
      errors: values.errors.toLocaleString(locale),
      tokens: values.tokens.toLocaleString(locale),
    })
    return { label: name({ month: 'numeric', day: 'numeric' }), value: values[shown], title }
  })
  const choice = (
    <fieldset className="segmented" aria-label={t('activity.days')}>
      {KINDS.map((kind) => (
        <button
          key={kind}
          type="button"
          aria-pressed={shown === kind}
          onClick={() => setShown(kind)}
        >
          {t(`activity.show.${kind}`)}
        </button>
      ))}
    </fieldset>
  )
  return (
    <Section title={t('activity.days')} actions={choice}>
      <div className="card p-6">
        <Bars bars={bars} name={t('activity.days')} />
      </div>
    </Section>
  )
}
