import { ChevronDown } from 'lucide-react'
import { useId, useState } from 'react'
import { MCP_SCHEMAS_CHARS_MAX, MCP_TOOLS_OFFERED_MAX } from '../../../src/core/limits/contract.ts'
import type { McpServer, McpTool } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { approvedOf, charsOf, stateOf } from './offer.ts'
import { ToolChanges } from './tool-changes.tsx'
import { ToolRow } from './tool-row.tsx'
import { ToolTry } from './tool-try.tsx'
import { decide, type ReadTool } from './use-servers.ts'

/** Lists up to this long are shown at once. */
const UNFOLDED_MAX = 6

interface Decision {
  readonly tools: readonly ReadTool[]
  readonly approve: boolean
}

interface Opened {
  readonly what: 'compare' | 'try'
  readonly tool: McpTool
}

/** The tools of a server, to approve one by one or all at once. */
export function ToolList({ server }: { readonly server: McpServer }) {
  const { t, locale } = useI18n()
  const listId = useId()
  const { tools } = server
  const [unfolded, setUnfolded] = useState(tools.length <= UNFOLDED_MAX)
  const [opened, setOpened] = useState<Opened | null>(null)
  const close = () => setOpened(null)
  const decision = useDecision(server)
  const approved = approvedOf(server)
  // A changed tool is approved separately, after its changes were read.
  const fresh = tools.filter((tool) => stateOf(tool) === 'new')
  if (tools.length === 0) {
    if (server.state !== 'ready') return null
    return <p className="border-t border-line px-5 py-4 text-ink-3">{t('tools.none')}</p>
  }
  const number = (value: number) => value.toLocaleString(locale)
  const all = (pick: readonly McpTool[], approve: boolean) => (
    <ForEditors>
      <Button
        kind="quiet"
        size="small"
        busy={decision.isPending && decision.variables?.tools.length === pick.length}
        onClick={() => decision.mutate({ tools: pick, approve })}
      >
        {t(approve ? 'tools.approve.all' : 'tools.withdraw.all', { count: pick.length })}
      </Button>
    </ForEditors>
  )
  return (
    <div className="border-t border-line">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 bg-sunken/50 px-5 py-2">
        <button
          type="button"
          className="target inline-flex items-center gap-1 py-1 text-left font-medium"
          aria-expanded={unfolded}
          aria-controls={listId}
          onClick={() => setUnfolded(!unfolded)}
        >
          {t('tools.count', { count: tools.length })}
          <ChevronDown
            size={16}
            className={`flex-none text-ink-3 ${unfolded ? 'rotate-180' : ''}`}
            aria-hidden
          />
        </button>
        <p className="min-w-0 flex-1 basis-56 text-small text-ink-3">
          {t('tools.approved', {
            ...{ count: number(approved.length), most: number(MCP_TOOLS_OFFERED_MAX) },
            ...{ chars: number(charsOf(approved)), room: number(MCP_SCHEMAS_CHARS_MAX) },
          })}
        </p>
        <div className="-mr-2 flex flex-wrap">
          {fresh.length > 0 && all(fresh, true)}
          {approved.length > 0 && all(approved, false)}
        </div>
      </div>
      {unfolded && (
        <ul id={listId} className="divide-y divide-line border-t border-line">
          {tools.map((tool) => (
            <ToolRow
              key={tool.name}
              server={server}
              tool={tool}
              busy={decision.isPending && decision.variables?.tools[0] === tool}
              onDecide={(approve) => decision.mutate({ tools: [tool], approve })}
              onCompare={() => setOpened({ what: 'compare', tool })}
              onTry={() => setOpened({ what: 'try', tool })}
            />
          ))}
        </ul>
      )}
      {opened?.what === 'try' && <ToolTry server={server} tool={opened.tool} onClose={close} />}
      {opened?.what === 'compare' && (
        <ToolChanges
          server={server}
          tool={opened.tool}
          onApprove={(hash) => {
            decision.mutate({ tools: [{ name: opened.tool.name, hash }], approve: true })
            close()
          }}
          onClose={close}
        />
      )}
    </div>
  )
}

function useDecision(server: McpServer) {
  const { t } = useI18n()
  const toasts = useToasts()
  return useAction(({ tools, approve }: Decision) => decide(server, tools, approve), {
    refresh: ['mcp-servers'],
    several: true,
    onDone: (done) => {
      if (!done) toasts.show('bad', t('tools.changed.since'))
    },
  })
}
