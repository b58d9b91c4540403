import * as Radix from '@radix-ui/react-switch'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { CharCount, charsNear } from './page.tsx'

interface FieldProps {
  readonly label: ReactNode
  /** Shown beside the label, such as a counter or a link. */
  readonly aside?: ReactNode
  readonly hint?: ReactNode
  readonly problem?: string | null | undefined
  readonly children: (ids: FieldIds) => ReactNode
}

interface FieldIds {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

/** A control with its label, its explanation and its error. */
export function Field({ label, aside, hint, problem, children }: FieldProps) {
  const id = useId()
  const described = hint || problem ? `${id}-hint` : undefined
  // Beside the label and not in it: the name of a field is what people call it.
  const besides = aside ? `${id}-aside` : undefined
  return (
    <div className="field">
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        {aside && (
          <span id={besides} className="font-normal text-ink-3">
            {aside}
          </span>
        )}
      </div>
      {children({
        id,
        'aria-describedby': [described, besides].filter(Boolean).join(' ') || undefined,
        'aria-invalid': problem ? true : undefined,
      })}
      {problem ? (
        <p id={described} className="problem" role="alert">
          {problem}
        </p>
      ) : (
        hint && (
          <p id={described} className="hint">
            {hint}
          </p>
        )
      )}
    </div>
  )
}

type TextProps = Omit<FieldProps, 'children'> &
  Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'children'> & {
    readonly value: string
    readonly onText: (value: string) => void
  }

export function TextField({ label, aside, hint, problem, onText, ...input }: TextProps) {
  return (
    <Field label={label} aside={aside} hint={hint} problem={problem}>
      {(ids) => (
        <input
          {...ids}
          {...input}
          className={`input ${input.className ?? ''}`}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </Field>
  )
}

type AreaProps = Omit<FieldProps, 'children' | 'aside'> &
  Omit<ComponentProps<'textarea'>, 'onChange' | 'value' | 'children'> & {
    readonly value: string
    readonly onText: (value: string) => void
    /** Maximum number of code points, as the server counts them. */
    readonly charsMax: number
  }

export function AreaField({ label, hint, problem, onText, charsMax, ...area }: AreaProps) {
  const count = charsNear(area.value, charsMax)
  return (
    <Field
      label={label}
      aside={count > 0 && <CharCount count={count} max={charsMax} />}
      hint={hint}
      problem={problem}
    >
      {(ids) => (
        <textarea
          {...ids}
          {...area}
          className={`input ${area.className ?? ''}`}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </Field>
  )
}

export interface Choice {
  readonly value: string
  readonly label: string
}

type SelectProps = Omit<FieldProps, 'children'> & {
  readonly value: string
  readonly choices: readonly Choice[]
  readonly onPick: (value: string) => void
}

export function SelectField({ value, choices, onPick, ...field }: SelectProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <select
          {...ids}
          className="input"
          value={value}
          onChange={(event) => onPick(event.target.value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface SwitchProps {
  readonly label: string
  readonly hint?: string
  readonly on: boolean
  /** Whether it cannot be switched. */
  readonly isOff?: boolean
  readonly onChange: (on: boolean) => void
}

export function SwitchField({ label, hint, on, isOff = false, onChange }: SwitchProps) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-6">
      <div>
        <label htmlFor={id} className="text-note font-medium">
          {label}
        </label>
        {hint && (
          <p id={`${id}-hint`} className="text-small text-ink-3">
            {hint}
          </p>
        )}
      </div>
      <Radix.Root
        id={id}
        className="switch"
        checked={on}
        disabled={isOff}
        onCheckedChange={onChange}
        aria-describedby={hint ? `${id}-hint` : undefined}
      >
        <Radix.Thumb />
      </Radix.Root>
    </div>
  )
}
