import type { ReactNode } from 'react'
import { useI18n } from '../i18n/index.tsx'

export interface Bar {
  readonly label: string
  readonly value: number
  /** The full text of the bar, for its tooltip and for screen readers. */
  readonly title: string
}

interface BarsProps {
  readonly bars: readonly Bar[]
  readonly name: string
}

/** A column chart. HTML elements, so that text keeps its size at every width. */
export function Bars({ bars, name }: BarsProps) {
  const { locale } = useI18n()
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  const highest = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <ul className="flex h-52 items-stretch gap-2 sm:gap-4" aria-label={name}>
      {bars.map(({ label, value, title }) => (
        <li key={label} className="flex min-w-0 flex-1 flex-col items-center" title={title}>
          <span className="sr-only">{title}</span>
          <span className="flex w-full flex-1 items-end justify-center" aria-hidden>
            <span className="flex h-full w-full max-w-14 flex-col justify-end">
              <span className="pb-1 text-center text-mini text-ink-2">
                {value === 0 ? '' : short.format(value)}
              </span>
              <span
                className="w-full rounded-t-md bg-accent"
                style={{ height: `${(value / highest) * 82}%` }}
              />
            </span>
          </span>
          <span
            className="w-full truncate border-t border-line pt-1.5 text-center text-mini"
            aria-hidden
          >
            {label}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** A bar chart of rows, for labels that are too long for columns. */
export function RowBars({ bars, name }: BarsProps) {
  const highest = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <ul className="grid gap-2.5" aria-label={name}>
      {bars.map(({ label, value, title }) => (
        <li key={label} className="grid gap-1" title={title}>
          <span className="flex justify-between gap-4 text-note">
            <span className="truncate">{label}</span>
            <span className="text-ink-2">{value}</span>
          </span>
          <span className="h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden>
            <span
              className="block h-full rounded-full bg-bad"
              style={{ width: `${(value / highest) * 100}%` }}
            />
          </span>
        </li>
      ))}
    </ul>
  )
}

interface StatProps {
  readonly label: string
  readonly value: string
  readonly tone?: 'bad' | undefined
  readonly note?: ReactNode
}

export function Stat({ label, value, tone, note }: StatProps) {
  return (
    <div className="card px-5 py-4">
      <p className="text-small text-ink-3">{label}</p>
      <p className={`mt-0.5 text-2xl font-semibold ${tone === 'bad' ? 'text-bad' : ''}`}>{value}</p>
      {note && <p className="text-small text-ink-3">{note}</p>}
    </div>
  )
}

/** How much of something is done, up to 1; the text beside it says so, too. */
export function ProgressBar({ share }: { readonly share: number }) {
  return (
    <span className="mt-1.5 block h-1 rounded-full bg-sunken" aria-hidden>
      <span
        className="block h-full rounded-full bg-accent"
        style={{ width: `${Math.max(2, share * 100)}%` }}
      />
    </span>
  )
}
