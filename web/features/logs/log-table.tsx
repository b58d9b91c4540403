import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import type { LogRow } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useTimes } from '../../lib/time.ts'
import { Badge, type Tone } from '../../ui/page.tsx'
import { endsOf } from '../keys/names.ts'
import { useErrorClass } from './error-class.ts'

const toneOf = (status: number): Tone | undefined =>
  status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'

export function LogTable({ rows }: { readonly rows: readonly LogRow[] }) {
  const { t } = useI18n()
  return (
    <div className="overflow-x-auto">
      <table className="rows stack">
        <thead>
          <tr>
            <th>{t('logs.time')}</th>
            <th>{t('logs.endpoint')}</th>
            <th>{t('logs.status')}</th>
            <th>{t('logs.who')}</th>
            <th className="num">{t('logs.began')}</th>
            <th className="num">{t('logs.first')}</th>
            <th className="num">{t('logs.total')}</th>
            <th>{t('logs.session')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ row }: { readonly row: LogRow }) {
  const { t } = useI18n()
  const named = useErrorClass()
  return (
    <tr id={row.id} className="target:bg-accent-soft">
      <td className="plain whitespace-nowrap" data-label={t('logs.time')}>
        <Time row={row} />
      </td>
      <td className="lead" data-label={t('logs.endpoint')}>
        <div className="min-w-0">
          <code className="whitespace-nowrap">{row.endpoint}</code>
          {row.channel && <Small>{channelName(row.channel, t)}</Small>}
        </div>
      </td>
      <td className="plain" data-label={t('logs.status')}>
        <span className="inline-flex flex-wrap items-center gap-x-2">
          <Badge tone={toneOf(row.status)}>{row.status}</Badge>
          {row.error_class && <span className="min-w-24 text-ink-2">{named(row.error_class)}</span>}
        </span>
      </td>
      <td className="plain" data-label={t('logs.who')}>
        <Who row={row} />
      </td>
      <Duration label={t('logs.began')} ms={row.latency_ms} />
      <Duration label={t('logs.first')} ms={row.first_ms} />
      <Duration label={t('logs.total')} ms={row.total_ms} />
      <td data-label={t('logs.session')} data-empty={row.session_id === null}>
        {row.session_id === null ? '—' : <Session row={row} id={row.session_id} />}
      </td>
    </tr>
  )
}

const channelName = (channel: string, t: ReturnType<typeof useI18n>['t']) =>
  channel === 'byo' ? t('channel.byo') : t('channel.platform')

const Second = ({ children }: { readonly children: string }) => (
  <span className="block text-small font-normal text-ink-3">{children}</span>
)

/** Hidden on a phone, where a row has to be short. */
const Small = ({ children }: { readonly children: string }) => (
  <span className="block text-small font-normal text-ink-3 max-sm:hidden">{children}</span>
)

/** The time, as a link to the row. */
function Time({ row }: { readonly row: LogRow }) {
  const { locale } = useI18n()
  const { exact } = useTimes()
  const parts = { month: 'numeric', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const
  return (
    <Link
      to="."
      search={(before: Record<string, unknown>) => before}
      hash={row.id}
      title={exact(row.ts)}
      className="target text-ink-2 underline-offset-2 hover:underline"
    >
      {new Date(row.ts).toLocaleString(locale, { ...parts, second: '2-digit' })}
    </Link>
  )
}

/** Who called: the key, and the app or device that it belongs to. */
function Who({ row: { key_id, app_id, device_id } }: { readonly row: LogRow }) {
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys.list })
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const devices = useQuery({ queryKey: ['devices'], queryFn: api.devices.list })
  const key = keys.data?.keys.find(({ id }) => id === key_id)
  const device = devices.data?.devices.find(({ id }) => id === device_id)
  const app = apps.data?.apps.find(({ id }) => id === app_id)
  const owner = device?.name ?? app?.name ?? device_id ?? app_id
  const name = key && (key.name || endsOf(key))
  return (
    <div className="min-w-0">
      <span className="block truncate">{owner ?? name ?? '—'}</span>
      {owner && name && <Second>{name}</Second>}
    </div>
  )
}

interface DurationProps {
  readonly label: string
  /** Milliseconds. */
  readonly ms: number | null
}

function Duration({ label, ms }: DurationProps) {
  const { t, locale } = useI18n()
  return (
    <td className="num whitespace-nowrap" data-label={label} data-empty={ms === null}>
      {ms === null ? '—' : `${ms.toLocaleString(locale)} ${t('logs.ms')}`}
    </td>
  )
}

interface SessionProps {
  readonly row: LogRow
  readonly id: string
}

/** A link to the session, which shows the conversation while it is stored. */
function Session({ row: { text_chars }, id }: SessionProps) {
  const { t } = useI18n()
  return (
    <div className="min-w-0">
      <Link
        to="/app"
        search={{ session: id }}
        title={id}
        className="target underline-offset-2 hover:underline"
      >
        <span className="block max-w-40 truncate">{id}</span>
      </Link>
      {text_chars !== null && <Small>{t('kb.fact.chars', { count: text_chars })}</Small>}
    </div>
  )
}
