import { TriangleAlert } from 'lucide-react'
import {
  MCP_SCHEMAS_CHARS_MAX,
  MCP_TOOLS_OFFERED_MAX,
  TOOLS_ENABLED_MAX,
} from '../../../src/core/limits/contract.ts'
import type { McpServer, McpTool } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { Notice } from '../../ui/page.tsx'
import { allOf, approvedOf, charsOf, isOf, offerOf, toggled } from './offer.ts'

interface PickerProps {
  readonly servers: readonly McpServer[]
  /** The chosen tools, including built-in ones. */
  readonly names: readonly string[]
  readonly onChange: (names: string[]) => void
}

/** Chooses MCP tools, one by one or all of a server, and shows the limits of a turn. */
export function McpPicker({ servers, names, onChange }: PickerProps) {
  const { t } = useI18n()
  const shown = servers.filter((server) => server.tools.length > 0)
  return (
    <div className="grid gap-3">
      {shown.map((server) => (
        <ServerTools key={server.id} server={server} names={names} onChange={onChange} />
      ))}
      {names.length >= TOOLS_ENABLED_MAX && (
        <p className="text-note text-warn" role="status">
          {t('tools.pick.full', { max: TOOLS_ENABLED_MAX })}
        </p>
      )}
      <Room servers={servers} names={names} />
    </div>
  )
}

/** More than this are folded at first. */
const UNFOLDED_MAX = 12

type ServerToolsProps = Omit<PickerProps, 'servers'> & { readonly server: McpServer }

function ServerTools({ server, names, onChange }: ServerToolsProps) {
  const { t, locale } = useI18n()
  const all = allOf(server)
  const approved = approvedOf(server)
  const isAll = names.includes(all)
  const isFull = names.length >= TOOLS_ENABLED_MAX
  const shown = server.tools.filter(
    ({ state, call_name }) => state === 'approved' || names.includes(call_name),
  )
  const off = !server.enabled || server.state !== 'ready'
  const chars = (tools: readonly McpTool[]) => charsOf(tools).toLocaleString(locale)
  const toggle = (name: string, on: boolean) => onChange(toggled(names, server, name, on))
  // Choosing all of a server replaces its single tools.
  const hasRoom = !isFull || names.some((name) => isOf(server, name))
  return (
    <fieldset className="min-w-0 rounded-lg bg-sunken p-4">
      <legend className="sr-only">{t('tools.pick.server', { name: server.name })}</legend>
      <Tick checked={isAll} disabled={!isAll && !hasRoom} onTick={(on) => toggle(all, on)}>
        <span className="font-medium">{t('tools.pick.all', { name: server.name })}</span>
        <Size text={t('tools.pick.size', { count: approved.length, chars: chars(approved) })} />
      </Tick>
      {off && <p className="mt-1 text-small text-warn">{t('tools.pick.off')}</p>}
      {!isAll && shown.length > 0 && (
        <details className="mt-2 pl-6.5" open={shown.length <= UNFOLDED_MAX || undefined}>
          <summary className="target cursor-pointer text-note text-ink-2">
            {t('tools.pick.single')}
          </summary>
          <div className="mt-2 grid gap-x-6 gap-y-2 sm:grid-cols-2">
            {shown.map((tool) => (
              <Tick
                key={tool.name}
                checked={names.includes(tool.call_name)}
                disabled={isFull && !names.includes(tool.call_name)}
                onTick={(on) => toggle(tool.call_name, on)}
              >
                <code>{tool.call_name}</code>
                <Size
                  text={
                    tool.state === 'approved'
                      ? t('tools.size', { chars: chars([tool]) })
                      : t('tools.pick.unapproved')
                  }
                />
              </Tick>
            ))}
          </div>
        </details>
      )}
    </fieldset>
  )
}

const Size = ({ text }: { readonly text: string }) => (
  <span className="block text-small text-ink-3">{text}</span>
)

interface TickProps {
  readonly checked: boolean
  readonly disabled: boolean
  readonly onTick: (on: boolean) => void
  readonly children: React.ReactNode
}

const Tick = ({ checked, disabled, onTick, children }: TickProps) => (
  <label className="flex items-start gap-2.5 text-note">
    <input
      type="checkbox"
      className="mt-1 size-4 flex-none accent-accent"
      checked={checked}
      disabled={disabled}
      onChange={(event) => onTick(event.target.checked)}
    />
    <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
  </label>
)

/** With more tools, models choose badly. */
const CLEAR_MAX = 20

/** How much of the limits of a turn the chosen tools use. */
function Room({ servers, names }: Omit<PickerProps, 'onChange'>) {
  const { t, locale } = useI18n()
  const { tools, chars, leftOut } = offerOf(servers, names)
  if (!names.some((name) => servers.some((server) => isOf(server, name)))) return null
  const number = (value: number) => value.toLocaleString(locale)
  const text = t('tools.room', {
    ...{ count: number(tools.length), most: number(MCP_TOOLS_OFFERED_MAX) },
    ...{ chars: number(chars), room: number(MCP_SCHEMAS_CHARS_MAX) },
  })
  const share = Math.max(tools.length / MCP_TOOLS_OFFERED_MAX, chars / MCP_SCHEMAS_CHARS_MAX)
  return (
    <div className="grid gap-2 text-note text-ink-2" aria-live="polite">
      <div className="h-1.5 overflow-hidden rounded-full bg-line" aria-hidden>
        <div
          className={`h-full rounded-full ${leftOut.length > 0 ? 'bg-warn' : 'bg-accent'}`}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <p>{text}</p>
      {tools.length > CLEAR_MAX && <p>{t('tools.room.many', { count: CLEAR_MAX })}</p>}
      {leftOut.length > 0 && (
        <Notice tone="warn" icon={<TriangleAlert size={16} aria-hidden />}>
          {t('tools.room.over', { count: leftOut.length })}{' '}
          <span className="[overflow-wrap:anywhere]">
            {listed(
              leftOut.map(({ call_name }) => call_name),
              locale,
            )}
          </span>
        </Notice>
      )}
    </div>
  )
}
