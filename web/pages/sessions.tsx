import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { useState } from 'react'
import { SESSIONS_LIMIT_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import type { SessionRow } from '../api/types.ts'
import { useI18n } from '../i18n/index.tsx'
import { More } from '../ui/more.tsx'
import { Ago, Badge, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** Rows at first, and with each click. */
const STEP = 50

export function Sessions() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['sessions'], queryFn: () => api.sessions.list() })
  const [filter, setFilter] = useState('')
  const matches = ({ id }: SessionRow) => id.toLowerCase().includes(filter.trim().toLowerCase())
  return (
    <Page title={t('nav.sessions')} about={t('sessions.about')}>
      <Loaded query={query}>
        {({ sessions }) =>
          sessions.length === 0 ? (
            <div className="card">
              <Empty
                icon={<MessagesSquare />}
                title={t('sessions.empty')}
                text={t('sessions.empty.text')}
              />
            </div>
          ) : (
            <>
              <input
                className="input mb-4 max-w-xs"
                type="search"
                placeholder={t('sessions.find')}
                aria-label={t('sessions.find')}
                value={filter}
                onChange={(event) => setFilter(event.target.value)}
              />
              <div className="card overflow-hidden">
                {sessions.some(matches) ? (
                  <More rows={sessions.filter(matches)} step={STEP}>
                    {(rows) => <SessionTable rows={rows} />}
                  </More>
                ) : (
                  <Unlisted id={filter.trim()} more={sessions.length >= SESSIONS_LIMIT_MAX} />
                )}
              </div>
              {sessions.length >= SESSIONS_LIMIT_MAX && (
                <p className="mt-3 text-[0.9rem] text-ink-2">
                  {t('sessions.most', { max: SESSIONS_LIMIT_MAX })}
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

interface UnlistedProps {
  readonly id: string
  /** Whether older sessions exist, on a next page. */
  readonly more: boolean
}

function Unlisted({ id, more }: UnlistedProps) {
  const { t } = useI18n()
  const way = (
    <Link to="/app/sessions/$id" params={{ id }} className="btn" data-size="small">
      {t('sessions.open', { id })}
    </Link>
  )
  return <Empty icon={<MessagesSquare />} title={t('sessions.unlisted')} action={more && way} />
}

function SessionTable({ rows }: { readonly rows: readonly SessionRow[] }) {
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const devices = useQuery({ queryKey: ['devices'], queryFn: api.devices.list })
  const from = (row: SessionRow) => {
    const device = devices.data?.devices.find(({ id }) => id === row.device_id)
    const app = apps.data?.apps.find(({ id }) => id === row.app_id)
    return device?.name ?? app?.name ?? row.device_id ?? row.app_id ?? t('keys.scope.general')
  }
  return (
    <table className="rows stack">
      <thead>
        <tr>
          <th>{t('sessions.id')}</th>
          <th className="num">{t('sessions.turns')}</th>
          <th>{t('sessions.from')}</th>
          <th>{t('sessions.last')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td className="lead">
              <Link
                to="/app/sessions/$id"
                params={{ id: row.id }}
                className="block truncate underline-offset-2 hover:underline"
              >
                {row.id}
              </Link>
            </td>
            <td className="num" data-label={t('sessions.turns')}>
              {row.turn_count}
            </td>
            <td data-label={t('sessions.from')}>
              <Badge tone={row.device_id || row.app_id ? 'accent' : undefined}>{from(row)}</Badge>
            </td>
            <td className="text-ink-2" data-label={t('sessions.last')}>
              <Ago at={row.last_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
