import * as Radix from '@radix-ui/react-switch'
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { CharCount, charsNear } from './page.tsx'

/** Whether the form around was sent while a value was missing; null where the browser looks. */
export const Tried = createContext<boolean | null>(null)

interface FieldProps {
  readonly label: ReactNode
  /** Shown beside the label, such as a counter or a link. */
  readonly aside?: ReactNode
  readonly hint?: ReactNode
  readonly problem?: string | null | undefined
  /** Why the form cannot be sent with this value; told once somebody has tried. */
  readonly lacks?: string | false | null | undefined
  /** Whether the form cannot be sent while the field is empty. */
  readonly required?: boolean | undefined
  /** What was typed, where the field is required. */
  readonly value?: string
  readonly children: (ids: FieldIds) => ReactNode
}

interface FieldIds {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
  readonly 'aria-required': boolean | undefined
}

/** A control with its label, its explanation and its error. */
export function Field({ label, aside, hint, children, ...given }: FieldProps) {
  const { t } = useI18n()
  const id = useId()
  const { required, value, lacks } = given
  const isMissing = required && !value?.trim()
  const unsent = useContext(Tried) && (isMissing ? t('form.missing') : lacks)
  const problem = given.problem || unsent
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
        'aria-required': required,
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

export function TextField({ label, aside, hint, problem, lacks, ...rest }: TextProps) {
  const { required, onText, ...input } = rest
  // The browser's own words for a missing value are in its language, and come one at a time.
  const isNative = useContext(Tried) === null
  return (
    <Field {...{ label, aside, hint, problem, lacks, required }} value={input.value}>
      {(ids) => (
        <input
          {...ids}
          {...input}
          required={isNative && required}
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
    /** Maximum number of code points, as the server counts them; absent where lines are counted. */
    readonly charsMax?: number
  }

export function AreaField({
  label,
  hint,
  problem,
  charsMax = Number.POSITIVE_INFINITY,
  ...rest
}: AreaProps) {
  const { t } = useI18n()
  const { required, lacks, onText, ...area } = rest
  const count = charsNear(area.value, charsMax)
  const isLong = count > charsMax
  return (
    <Field
      label={label}
      aside={count > 0 && <CharCount count={count} max={charsMax} />}
      lacks={isLong ? t('keys.name.long', { max: charsMax }) : lacks}
      {...{ hint, problem, required }}
      value={area.value}
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
