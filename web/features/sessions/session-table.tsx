import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import type { Conversation } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Marked } from '../../ui/marked.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { searchOf } from '../studio/known.ts'
import { useShownTitle } from './shown-title.ts'

const EXCERPT =
  'line-clamp-2 whitespace-normal text-[0.86rem] font-normal text-ink-2 hover:underline'

interface TableProps {
  readonly rows: readonly Conversation[]
  /** The words of the search. */
  readonly query: string
}

export function SessionTable({ rows, query }: TableProps) {
  const { t } = useI18n()
  const shownTitle = useShownTitle()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const devices = useQuery({ queryKey: ['devices'], queryFn: api.devices.list })
  const from = (row: Conversation) => {
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
              <div className="min-w-0">
                <Link
                  to="/app/sessions/$id"
                  params={{ id: row.id }}
                  title={row.id}
                  className="block truncate underline-offset-2 hover:underline"
                >
                  {shownTitle(row.title) || row.id}
                </Link>
                {row.match && (
                  <Link to="/app/studio" search={searchOf(row)} className={EXCERPT}>
                    <Marked text={row.match.excerpt} query={query} />
                  </Link>
                )}
              </div>
            </td>
            <td className="num" data-label={t('sessions.turns')}>
              {row.turn_count}
            </td>
            <td data-label={t('sessions.from')}>
              <Badge tone={row.device_id || row.app_id ? 'accent' : undefined}>{from(row)}</Badge>
            </td>
            <td className="plain text-ink-2" data-label={t('sessions.last')}>
              <Ago at={row.last_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
