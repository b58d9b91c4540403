import { Check, Eye, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { LISTED_DESCRIPTION_CHARS } from '../../../src/core/limits/machine.ts'
import type { UnusableReason } from '../../../src/features/mcp-servers/schema.ts'
import type { McpServer, McpTool } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Badge } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { stateOf } from './offer.ts'
import { ToolAsk } from './tool-ask.tsx'
import { useDefinition } from './tool-changes.tsx'

interface ToolRowProps {
  readonly server: McpServer
  readonly tool: McpTool
  readonly busy: boolean
  readonly onDecide: (approve: boolean) => void
  /** Opens the changes, where the tool can be approved. */
  readonly onCompare: () => void
  readonly onTry: () => void
}

const ACTIONS = {
  new: 'tools.approve',
  changed: 'tools.compare',
  approved: 'tools.withdraw',
} as const

/** A tool with its description, which is read before it is approved. */
export function ToolRow({ server, tool, busy, onDecide, onCompare, onTry }: ToolRowProps) {
  const { t, locale } = useI18n()
  const { name, title, call_name, description, schema_chars } = tool
  const state = stateOf(tool)
  const isUsable = state !== 'unusable'
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2 px-5 py-3.5">
      <div className="min-w-0 flex-1 basis-72 [overflow-wrap:anywhere]">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h4 className="font-medium">{title ?? name}</h4>
          <Marks tool={tool} />
        </div>
        <p className="text-small text-ink-3">
          <code>{call_name}</code>
          {isUsable && ` · ${t('tools.size', { chars: schema_chars.toLocaleString(locale) })}`}
        </p>
        <Caution tool={tool} />
        {description !== '' && <Description server={server} tool={tool} />}
        {isUsable && state !== 'new' && <ToolAsk server={server} tool={tool} />}
      </div>
      {isUsable && (
        <ForEditors>
          <div className="flex gap-1">
            <Button
              size="small"
              kind="quiet"
              aria-label={t('system.summary', { name: t('tools.try'), value: name })}
              onClick={onTry}
            >
              {t('tools.try')}
            </Button>
            <Button
              size="small"
              kind={state === 'approved' ? 'quiet' : undefined}
              busy={busy}
              aria-label={t('system.summary', { name: t(ACTIONS[state]), value: name })}
              onClick={() => (state === 'changed' ? onCompare() : onDecide(state !== 'approved'))}
            >
              {t(ACTIONS[state])}
            </Button>
          </div>
        </ForEditors>
      )}
    </li>
  )
}

function Marks({ tool }: Pick<ToolRowProps, 'tool'>) {
  const { t } = useI18n()
  const { read_only, destructive } = tool
  const state = stateOf(tool)
  const icon = { size: 13, 'aria-hidden': true } as const
  const isUsable = state !== 'unusable'
  return (
    <>
      {state === 'approved' && (
        <Badge tone="good" icon={<Check {...icon} />}>
          {t('tools.tool.approved')}
        </Badge>
      )}
      {state === 'new' && <Badge tone="accent">{t('tools.tool.new')}</Badge>}
      {state === 'changed' && (
        <Badge tone="warn" icon={<TriangleAlert {...icon} />}>
          {t('tools.tool.changed')}
        </Badge>
      )}
      {!isUsable && <Badge tone="bad">{t('tools.tool.unusable')}</Badge>}
      {isUsable && read_only && <Badge icon={<Eye {...icon} />}>{t('tools.readonly')}</Badge>}
      {isUsable && destructive && <Badge tone="warn">{t('tools.destructive')}</Badge>}
    </>
  )
}

/** Why the tool is not offered, when its badge does not say enough. */
function Caution({ tool }: Pick<ToolRowProps, 'tool'>) {
  const { t } = useI18n()
  const { reason } = tool
  if (stateOf(tool) === 'changed') {
    return <p className="mt-1 text-note text-warn">{t('tools.changed.about')}</p>
  }
  if (reason === null) return null
  return <p className="mt-1 text-note text-bad">{t(`tools.reason.${reason as UnusableReason}`)}</p>
}

/**
 * The list has the beginning of a long description. The rest is loaded when it is unfolded, because
 * the model reads all of it.
 */
function Description({ server, tool }: Pick<ToolRowProps, 'server' | 'tool'>) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const { description } = tool
  const body = 'text-note whitespace-pre-wrap text-ink-2'
  if (description.length < LISTED_DESCRIPTION_CHARS) {
    return <p className={`mt-1 ${body}`}>{description}</p>
  }
  return (
    <details className="group mt-1" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="target cursor-pointer list-none">
        <span className={`line-clamp-3 group-open:hidden ${body}`}>{description}</span>
        <span className="text-small text-accent">
          <span className="group-open:hidden">{t('tools.read')}</span>
          <span className="hidden group-open:inline">{t('tools.read.less')}</span>
        </span>
      </summary>
      {isOpen && <WholeDescription server={server} tool={tool} className={body} />}
    </details>
  )
}

interface WholeDescriptionProps extends Pick<ToolRowProps, 'server' | 'tool'> {
  readonly className: string
}

function WholeDescription({ server, tool, className }: WholeDescriptionProps) {
  return (
    <Loaded query={useDefinition(server, tool)}>
      {({ description }) => <p className={className}>{description}</p>}
    </Loaded>
  )
}
