import { useId } from 'react'
import type { SystemSetting } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { CHOICES, EXAMPLES, kindOf } from './parts.ts'
import { SourceMark } from './source-mark.tsx'

interface FieldProps {
  readonly setting: SystemSetting
  /** The typed value; undefined while untouched, null to return to the default. */
  readonly value: string | null | undefined
  /** Suggestions for a field that names a model. */
  readonly models: readonly string[]
  readonly problem: string | null
  readonly onChange: (value: string | null) => void
}

/** One setting with its name in the environment and who has set it. */
export function SettingField({ setting, value, models, problem, onChange }: FieldProps) {
  const { t } = useI18n()
  const { name, locked, secret_tail: tail, source } = setting
  const list = useId()
  const kind = kindOf(name)
  const label = t((kind ? `system.kind.${kind}` : `system.name.${name}`) as Key)
  const aside = (
    <span className="inline-flex min-w-0 flex-wrap items-center justify-end gap-2">
      {source === 'environment' && <SourceMark source={source} />}
    </span>
  )
  const choices = CHOICES[name]
  if (choices && !locked) {
    const all = [
      { value: '', label: t('system.default') },
      ...choices.map((choice) => ({ value: choice, label: choice })),
    ]
    const shown = value === undefined ? (source === 'console' ? (setting.value ?? '') : '') : value
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
  const text = value === undefined ? (setting.value ?? '') : (value ?? '')
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
