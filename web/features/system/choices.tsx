import { useId } from 'react'

interface Choice {
  readonly value: string
  readonly label: string
  readonly hint?: string
}

interface ChoicesProps {
  readonly label: string
  /** Null while nobody has chosen. */
  readonly value: string | null
  readonly choices: readonly Choice[]
  readonly locked?: boolean
  readonly onPick: (value: string) => void
}

/** One of a few, each with what it means. */
export function Choices({ label, value, choices, locked = false, onPick }: ChoicesProps) {
  const id = useId()
  return (
    <fieldset className="grid gap-3" disabled={locked}>
      <legend className="sr-only">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} className="flex items-start gap-3">
          <input
            type="radio"
            className="mt-1.5 size-4 flex-none accent-accent"
            name={id}
            checked={value === choice.value}
            onChange={() => onPick(choice.value)}
          />
          <span>
            <span className="font-medium">{choice.label}</span>
            {choice.hint && <span className="block text-note text-ink-2">{choice.hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
