import { useState } from 'react'
import type { McpServer, McpTool } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { useTimes } from '../../lib/time.ts'
import { ForEditors } from '../../ui/changeable.tsx'
import { SwitchField } from '../../ui/form.tsx'
import { Loaded } from '../../ui/state.tsx'
import { useDefinition } from './tool-changes.tsx'
import { setAsk } from './use-servers.ts'

interface ToolAskProps {
  readonly server: McpServer
  readonly tool: McpTool
}

/** Whether people are asked before each call, who approved the tool, and its last call. */
export function ToolAsk({ server, tool }: ToolAskProps) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const change = useAction((on: boolean) => setAsk(server, tool, on), { refresh: ['mcp-servers'] })
  return (
    <div className="mt-2 grid max-w-md gap-1">
      <ForEditors>
        <SwitchField
          label={t('tools.ask')}
          hint={t('tools.ask.hint')}
          on={change.isPending ? change.variables : tool.ask}
          onChange={(on) => change.mutate(on)}
        />
      </ForEditors>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="target cursor-pointer text-small text-ink-3">
          {t('tools.history')}
        </summary>
        {isOpen && <Past server={server} tool={tool} />}
      </details>
    </div>
  )
}

function Past({ server, tool }: ToolAskProps) {
  const { t } = useI18n()
  const { exact } = useTimes()
  /** A key has no name here, a person has an address. */
  const nameOf = (by: string | null) => (by?.includes('@') ? by : t('tools.past.key'))
  return (
    <Loaded query={useDefinition(server, tool)}>
      {({ approval, last_call: last }) => (
        <p className="grid text-small text-ink-2">
          {approval && (
            <span>{t('tools.past', { at: exact(approval.at), by: nameOf(approval.by) })}</span>
          )}
          <span>
            {last
              ? t(last.ok ? 'tools.called.ok' : 'tools.called.failed', { at: exact(last.at) })
              : t('tools.history.none')}
          </span>
        </p>
      )}
    </Loaded>
  )
}
