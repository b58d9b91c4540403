import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Pencil, Power, RotateCw, Trash2, TriangleAlert } from 'lucide-react'
import { Fragment } from 'react'
import { api } from '../../api/index.ts'
import type { McpServer } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Ago, Badge, Notice, type Tone } from '../../ui/page.tsx'
import { RowMenu } from '../../ui/row-menu.tsx'
import { approvedOf, appsWith, isOf } from './offer.ts'
import { ServerSignIn } from './server-sign-in.tsx'
import { ToolList } from './tool-list.tsx'
import { refreshServer } from './use-servers.ts'

interface ServerCardProps {
  readonly server: McpServer
  readonly onEdit: () => void
  readonly onDelete: () => void
  /** Turns the server on or off. */
  readonly onTurn: () => void
}

/** A server: whether it answers, who uses it, and its tools. */
export function ServerCard({ server, onEdit, onDelete, onTurn }: ServerCardProps) {
  const { t } = useI18n()
  const client = useQueryClient()
  const isRetried = server.enabled && server.error_class !== 'undecryptable'
  const refresh = useAction((id: string) => refreshServer(client, id), { done: 'tools.refreshed' })
  return (
    <li className="card overflow-hidden">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 px-5 py-4">
        <div className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h3 className="font-semibold">{server.name}</h3>
            <State server={server} />
          </div>
          <p className="text-note text-ink-2">{server.url}</p>
          <Facts server={server} />
        </div>
        <ForEditors>
          <div className="flex gap-1">
            <Button
              size="small"
              icon={<RotateCw size={15} aria-hidden />}
              busy={refresh.isPending}
              aria-label={t('tools.refresh.what', { name: server.name })}
              onClick={() => refresh.mutate(server.id)}
            >
              {t('action.refresh')}
            </Button>
            <RowMenu
              label={t('tools.actions', { name: server.name })}
              actions={[
                { label: t('action.edit'), icon: Pencil, act: onEdit },
                {
                  label: t(server.enabled ? 'tools.turn.off' : 'tools.turn.on'),
                  icon: Power,
                  act: onTurn,
                },
                { label: t('action.delete'), icon: Trash2, act: onDelete, isLoss: true },
              ]}
            />
          </div>
        </ForEditors>
      </div>
      <div aria-live="polite" className="grid gap-2 px-5 not-empty:pb-4">
        {server.state === 'failed' && server.error_class !== null && (
          <Notice tone="bad" icon={<TriangleAlert size={16} aria-hidden />}>
            {t(`tools.fault.${server.error_class}`)} {isRetried && t('tools.fault.then')}
          </Notice>
        )}
        {server.auth === 'oauth' && <ServerSignIn server={server} />}
        <Use server={server} />
      </div>
      <ToolList server={server} />
    </li>
  )
}

const TONES: Readonly<Record<McpServer['state'], Tone | undefined>> = {
  ready: 'good',
  failed: 'bad',
  never: undefined,
  sign_in: 'warn',
}

function State({ server: { enabled, state } }: Pick<ServerCardProps, 'server'>) {
  const { t } = useI18n()
  if (!enabled) return <Badge>{t('state.off')}</Badge>
  return <Badge tone={TONES[state]}>{t(`tools.state.${state}`)}</Badge>
}

function Facts({ server }: Pick<ServerCardProps, 'server'>) {
  const { t, locale } = useI18n()
  const { header_name, header_tail, protocol, latency_ms, checked_at, state } = server
  const facts = [
    header_name !== null && `${header_name} ${header_tail === null ? '' : `•••• ${header_tail}`}`,
    protocol !== null && t('tools.fact.protocol', { revision: protocol }),
    state === 'ready' &&
      latency_ms !== null &&
      t('tools.fact.latency', { ms: latency_ms.toLocaleString(locale) }),
    checked_at !== null && (
      <Fragment key="checked">
        {t('kb.fact.checked')} <Ago at={checked_at} />
      </Fragment>
    ),
  ].filter(Boolean)
  return (
    <p className="text-small text-ink-3">
      {withIndexKeys(facts).map(({ key, item }) => (
        <Fragment key={key}>
          {key !== '0' && ' · '}
          {item}
        </Fragment>
      ))}
    </p>
  )
}

/** Which apps use the server: approved tools that no app chooses are not offered. */
function Use({ server }: Pick<ServerCardProps, 'server'>) {
  const { t, locale } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const settings = useQuery({ queryKey: ['settings'], queryFn: api.settings.read })
  if (!apps.data || !settings.data || approvedOf(server).length === 0) return null
  const isShared = settings.data.mcp_tools.some((name) => isOf(server, name))
  const users = [
    ...appsWith(server, apps.data.apps).map(({ name }) => name),
    ...(isShared ? [t('tools.use.shared')] : []),
  ]
  if (users.length === 0) return <Notice tone="warn">{t('tools.use.none')}</Notice>
  const list = new Intl.ListFormat(locale).format(users)
  return <p className="text-note text-ink-2">{t('tools.use', { users: list })}</p>
}
