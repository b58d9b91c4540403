import { useQueryClient } from '@tanstack/react-query'
import { Lock, Plus, Server } from 'lucide-react'
import { useState } from 'react'
import { MCP_SERVERS_MAX } from '../../../src/core/limits/contract.ts'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { McpServer } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { ServerCard } from './server-card.tsx'
import { ServerDialog } from './server-dialog.tsx'
import { refreshServer, useServers } from './use-servers.ts'

const UNCONFIGURED = 503

type Asked = { readonly what: 'edit' | 'delete'; readonly server: McpServer | null }

/** The MCP servers of the tenant, with their tools. */
export function ServerList() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const query = useServers()
  const close = () => setAsked(null)
  const remove = useAction(api.mcpServers.remove, {
    done: 'tools.deleted',
    refresh: ['mcp-servers'],
    onDone: close,
  })
  const turn = useTurn()
  const off = query.error instanceof ApiError && query.error.status === UNCONFIGURED
  const server = asked?.server ?? null
  const full = (query.data?.servers.length ?? 0) >= MCP_SERVERS_MAX
  const add = !off && (
    <Button
      kind="primary"
      icon={<Plus size={16} aria-hidden />}
      disabled={full}
      onClick={() => setAsked({ what: 'edit', server: null })}
    >
      {t('tools.new')}
    </Button>
  )
  return (
    <Section
      title={t('tools.servers')}
      about={t('tools.servers.about')}
      actions={<ForEditors>{add}</ForEditors>}
    >
      {full && <p className="mb-3 text-ink-2">{t('tools.full', { max: MCP_SERVERS_MAX })}</p>}
      {off ? (
        <div className="card">
          <Empty icon={<Lock />} title={t('tools.off')} text={t('tools.off.text')} />
        </div>
      ) : (
        <Loaded query={query}>
          {({ servers }) =>
            servers.length === 0 ? (
              <div className="card">
                <Empty icon={<Server />} title={t('tools.empty')} text={t('tools.empty.text')} />
              </div>
            ) : (
              <ul className="grid gap-4">
                {servers.map((one) => (
                  <ServerCard
                    key={one.id}
                    server={one}
                    onEdit={() => setAsked({ what: 'edit', server: one })}
                    onDelete={() => setAsked({ what: 'delete', server: one })}
                    onTurn={() => turn.mutate(one)}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
      <ServerDialog server={server} open={asked?.what === 'edit'} onClose={close} />
      <Confirm
        title={t('tools.delete.title', { name: server?.name ?? '' })}
        loss={t('tools.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => server && remove.mutate(server.id)}
        onClose={close}
      />
    </Section>
  )
}

/** Turns a server off or on; one that was never listed is listed then. */
function useTurn() {
  const client = useQueryClient()
  return useAction(
    async (server: McpServer) => {
      const { id, name, url, header_name, enabled } = server
      // Without a value the stored one stays.
      const input = { name, url, header_name, header_value: null, enabled: !enabled }
      const saved = await api.mcpServers.update(id, input)
      return saved.enabled && saved.state !== 'ready' ? refreshServer(client, id) : saved
    },
    { refresh: ['mcp-servers'], several: true },
  )
}
