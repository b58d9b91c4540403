import { TOOLS_ENABLED_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { TOOLS, toolName } from '../../i18n/tool-words.ts'
import { SwitchField } from '../../ui/form.tsx'
import { McpPicker } from '../tools/mcp-picker.tsx'
import { isOf } from '../tools/offer.ts'
import { useServers } from '../tools/use-servers.ts'

interface ToolPickerProps {
  readonly tools: readonly string[] | null
  readonly onChange: (tools: readonly string[] | null) => void
}

/** All built-in tools, or an allow-list, which may be empty. Unknown names stay listed. */
export function ToolPicker({ tools, onChange }: ToolPickerProps) {
  const { t, language } = useI18n()
  const servers = useServers().data?.servers ?? []
  const isOfServer = (name: string) => servers.some((server) => isOf(server, name))
  const chosen = tools ?? []
  const names = [...new Set([...TOOLS, ...chosen.filter((name) => !isOfServer(name))])]
  const isFull = chosen.length >= TOOLS_ENABLED_MAX
  const toggle = (name: string, on: boolean) =>
    onChange([
      ...names.filter((item) => (item === name ? on : chosen.includes(item))),
      ...chosen.filter(isOfServer),
    ])
  return (
    <div className="grid gap-3">
      <SwitchField
        label={t('apps.tools.every')}
        hint={t(servers.length > 0 ? 'apps.tools.hint.mcp' : 'apps.tools.hint')}
        on={tools === null}
        onChange={(all) => onChange(all ? null : [...TOOLS])}
      />
      {tools !== null && (
        <>
          <fieldset className="grid gap-2 rounded-lg bg-sunken p-4 sm:grid-cols-2">
            <legend className="sr-only">{t('apps.tools')}</legend>
            {names.map((name) => (
              <label key={name} className="flex items-center gap-2.5 text-note">
                <input
                  type="checkbox"
                  className="size-4 accent-accent"
                  checked={tools.includes(name)}
                  disabled={isFull && !tools.includes(name)}
                  onChange={(event) => toggle(name, event.target.checked)}
                />
                <span className="min-w-0">
                  {toolName(name, language)}{' '}
                  <code className="text-small break-words text-ink-3">{name}</code>
                </span>
              </label>
            ))}
          </fieldset>
          <McpPicker servers={servers} names={tools} onChange={onChange} />
        </>
      )}
    </div>
  )
}
