import { useQueryClient } from '@tanstack/react-query'
import { Lock, Plus, Server } from 'lucide-react'
import { useState } from 'react'
import { MCP_SERVERS_MAX } from '../../../src/core/limits/contract.ts'
import { ApiError } from '../../api/client.ts'
import { mcpServers } from '../../api/mcp-servers.ts'
import type { McpServer } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { KNOWN_SERVERS, type KnownServer } from './known.ts'
import { ServerCard } from './server-card.tsx'
import { ServerDialog } from './server-dialog.tsx'
import { SignInAnswer } from './server-sign-in.tsx'
import { refreshServer, useServers } from './use-servers.ts'

const UNCONFIGURED = 503

interface Asked {
  readonly what: 'edit' | 'delete'
  readonly server: McpServer | null
  /** With whose name and address a new one begins. */
  readonly known?: KnownServer
}

/** The MCP servers of the tenant, with their tools. */
export function ServerList() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const query = useServers()
  const close = () => setAsked(null)
  const remove = useAction(mcpServers.remove, {
    done: 'tools.deleted',
    onGone: close,
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
      <SignInAnswer />
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
      {!off && !full && (
        <ForEditors>
          <div className="mt-4 mb-8">
            <h3 className="font-medium">{t('tools.known')}</h3>
            <p className="text-note text-ink-2">{t('tools.known.about')}</p>
            <ul className="mt-2 flex flex-wrap gap-2">
              {KNOWN_SERVERS.map((known) => (
                <li key={known.name}>
                  <Button
                    size="small"
                    onClick={() => setAsked({ what: 'edit', server: null, known })}
                  >
                    {known.title}
                  </Button>
                </li>
              ))}
            </ul>
          </div>
        </ForEditors>
      )}
      <ServerDialog
        server={server}
        known={asked?.known}
        open={asked?.what === 'edit'}
        onClose={close}
      />
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
    async ({ id, enabled }: McpServer) => {
      // Read again, as a colleague may have changed it since the list was loaded.
      const { name, url, header_name, auth, client_id, scopes } = await mcpServers.read(id)
      // Without a value the stored one stays.
      const secrets = { header_value: null, client_secret: null }
      const head = { name, url, header_name, auth, client_id, scopes }
      const input = { ...head, ...secrets, enabled: !enabled }
      const saved = await mcpServers.update(id, input)
      return saved.enabled && saved.state !== 'ready' ? refreshServer(client, id) : saved
    },
    { refresh: ['mcp-servers'], several: true },
  )
}
