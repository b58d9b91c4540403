import { type Key, useI18n } from '../../i18n/index.tsx'
import { listOf } from './setting-words.ts'

const WAYS = ['email', 'oauth', 'passkey'] as const

interface WaysProps {
  readonly label: string
  /** The chosen ways, separated by commas. */
  readonly value: string
  readonly locked: boolean
  readonly problem: string | null
  readonly onChange: (value: string) => void
}

/** The ways to sign in, of which the last cannot be taken away. */
export function WaysField({ label, value, locked, problem, onChange }: WaysProps) {
  const { t } = useI18n()
  const chosen = listOf(value)
  const toggle = (way: string, on: boolean) =>
    onChange(WAYS.filter((one) => (one === way ? on : chosen.includes(one))).join(','))
  return (
    <fieldset className="grid gap-3" disabled={locked}>
      <legend className="sr-only">{label}</legend>
      {WAYS.map((way) => (
        <label key={way} className="flex items-center gap-3">
          <input
            type="checkbox"
            className="size-4 flex-none accent-accent"
            checked={chosen.includes(way)}
            disabled={chosen.length === 1 && chosen.includes(way)}
            onChange={({ target }) => toggle(way, target.checked)}
          />
          {t(`system.way.${way}` as Key)}
        </label>
      ))}
      {problem && (
        <p role="alert" className="text-note text-bad">
          {problem}
        </p>
      )}
    </fieldset>
  )
}
