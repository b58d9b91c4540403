import { useI18n } from '../../i18n/index.tsx'
import { SwitchField } from '../../ui/form.tsx'
import { TOOLS } from './draft.ts'

interface ToolPickerProps {
  readonly tools: readonly string[] | null
  readonly onChange: (tools: readonly string[] | null) => void
}

/** All tools, or an allow-list, which may be empty. Names that are not built in stay listed. */
export function ToolPicker({ tools, onChange }: ToolPickerProps) {
  const { t } = useI18n()
  const names = [...new Set([...TOOLS, ...(tools ?? [])])]
  const toggle = (name: string, on: boolean) =>
    onChange(names.filter((item) => (item === name ? on : (tools ?? []).includes(item))))
  return (
    <div className="grid gap-3">
      <SwitchField
        label={t('apps.tools.every')}
        hint={t('apps.tools.hint')}
        on={tools === null}
        onChange={(all) => onChange(all ? null : [...TOOLS])}
      />
      {tools !== null && (
        <fieldset className="grid gap-2 rounded-lg bg-sunken p-4 sm:grid-cols-2">
          <legend className="sr-only">{t('apps.tools')}</legend>
          {names.map((name) => (
            <label key={name} className="flex items-center gap-2.5 text-[0.92rem]">
              <input
                type="checkbox"
                className="size-4 accent-accent"
                checked={tools.includes(name)}
                onChange={(event) => toggle(name, event.target.checked)}
              />
              <code>{name}</code>
            </label>
          ))}
        </fieldset>
      )}
    </div>
  )
}
