import { useI18n } from '../../i18n/index.tsx'
import { Field, SelectField } from '../../ui/form.tsx'
import type { ArgumentField, Problem } from './arguments.ts'

interface ArgumentProps {
  readonly field: ArgumentField
  readonly problem: Problem | undefined
  readonly value: string
  readonly onText: (text: string) => void
}

/** The field of one argument. */
export function Argument({ field, problem, value, onText }: ArgumentProps) {
  const { t } = useI18n()
  const { label, kind, type, description, required, choices } = field
  const shared = {
    label,
    aside: [type, !required && t('tools.try.optional')].filter(Boolean).join(' · '),
    hint: description,
    problem: problem && t(`tools.try.problem.${problem}`),
  }
  if (kind === 'choice') {
    const all = [{ value: '', label: '—' }, ...choices]
    return <SelectField {...shared} value={value} choices={all} onPick={onText} />
  }
  return <Lines {...shared} value={value} rows={kind === 'json' ? 3 : 1} onText={onText} />
}

interface LinesProps {
  readonly label: string
  readonly aside?: string
  readonly hint?: string
  readonly problem?: string | undefined
  readonly value: string
  readonly rows: number
  readonly onText: (text: string) => void
}

/** A field for text of several lines. */
export const Lines = ({ value, rows, onText, ...field }: LinesProps) => (
  <Field {...field}>
    {(ids) => (
      <textarea
        {...ids}
        className="input min-h-0 font-mono text-note"
        rows={rows}
        spellCheck={false}
        autoCapitalize="none"
        value={value}
        onChange={(event) => onText(event.target.value)}
      />
    )}
  </Field>
)
