import { useId } from 'react'
import type { SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { CHOICES, EXAMPLES } from './parts.ts'
import { useSettingWords } from './setting-words.ts'
import { SourceMark } from './source-mark.tsx'
import { WaysField } from './ways-field.tsx'

/** Choices that are a default themselves, so that none is offered beside them. */
const FIRST_CHOICES = ['auto', 'true']

interface FieldProps {
  readonly setting: SystemSetting
  /** The typed value; undefined while untouched, null to return to the default. */
  readonly value: string | null | undefined
  /** Suggestions for a field that names a model. */
  readonly models: readonly string[]
  readonly problem: string | null
  readonly onChange: (value: string | null) => void
}

/** One setting, with a mark where the environment has set it. */
export function SettingField({ setting, value, models, problem, onChange }: FieldProps) {
  const { t } = useI18n()
  const { name, locked, secret_tail: tail, source } = setting
  const list = useId()
  const { labelOf, choiceOf, wordsOf } = useSettingWords()
  const label = labelOf(name)
  const aside = (
    <span className="inline-flex min-w-0 flex-wrap items-center justify-end gap-2">
      {source === 'environment' && <SourceMark />}
    </span>
  )
  if (name === 'MB_SIGNIN') {
    const shown = value ?? setting.value ?? ''
    return <WaysField {...{ label, locked, problem, onChange }} value={shown} />
  }
  const choices = CHOICES[name]
  if (choices && !locked) {
    const named = choices.map((choice) => ({ value: choice, label: choiceOf(choice) }))
    const all = FIRST_CHOICES.some((first) => choices.includes(first))
      ? named
      : [{ value: '', label: t('system.automatic') }, ...named]
    const saved = source === 'console' || all === named ? (setting.value ?? '') : ''
    const shown = value === undefined ? saved : value
    return (
      <SelectField
        {...{ label, aside, problem }}
        value={shown ?? ''}
        choices={all}
        onPick={(next) => onChange(next === '' ? null : next)}
      />
    )
  }
  const isSecret = tail !== null || name.endsWith('_API_KEY') || name === 'MB_BACKUP_PASSPHRASE'
  const text = value === undefined ? wordsOf(setting) : (value ?? '')
  return (
    <div className="grid gap-2">
      <TextField
        {...{ label, aside, problem }}
        hint={isSecret && value === null ? t('system.secret.cleared') : undefined}
        type={isSecret ? 'password' : 'text'}
        autoComplete="off"
        spellCheck={false}
        readOnly={locked}
        className={locked ? 'bg-sunken text-ink-2' : ''}
        placeholder={tail === null ? EXAMPLES[name] : `•••• ${tail}`}
        list={models.length > 0 ? list : undefined}
        value={text}
        onText={(next) => onChange(next === '' && !isSecret ? null : next)}
      />
      {models.length > 0 && (
        <datalist id={list}>
          {models.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
      )}
      {tail !== null && !locked && value !== null && (
        <Button
          className="justify-self-start"
          size="small"
          kind="quiet"
          onClick={() => onChange(null)}
          aria-label={t('system.secret.clear.of', { name: label })}
        >
          {t('system.secret.clear')}
        </Button>
      )}
    </div>
  )
}
