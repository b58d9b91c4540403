import { Link } from '@tanstack/react-router'
import type { LogRow } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useTimes } from '../../lib/time.ts'
import { Badge, type Tone } from '../../ui/page.tsx'

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
            <th className="num">{t('logs.latency')}</th>
            <th>{t('logs.session')}</th>
            <th className="num">{t('logs.chars')}</th>
            <th>{t('logs.channel')}</th>
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

/** Links to the session, which shows the conversation while it is stored. */
function SessionLink({ id }: { readonly id: string }) {
  return (
    <Link
      to="/app/sessions/$id"
      params={{ id }}
      title={id}
      className="block max-w-44 truncate underline-offset-2 hover:underline"
    >
      {id}
    </Link>
  )
}

function Row({ row }: { readonly row: LogRow }) {
  const { t, locale } = useI18n()
  const { exact } = useTimes()
  const time = new Date(row.ts).toLocaleString(locale, {
    month: 'numeric',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  return (
    <tr id={row.id} className="target:bg-accent-soft">
      <td className="whitespace-nowrap" data-label={t('logs.time')}>
        <Link
          to="."
          search={(before: Record<string, unknown>) => before}
          hash={row.id}
          title={exact(row.ts)}
          className="text-ink-2 underline-offset-2 hover:underline"
        >
          {time}
        </Link>
      </td>
      <td data-label={t('logs.endpoint')}>
        <code>{row.endpoint}</code>
      </td>
      <td data-label={t('logs.status')}>
        <span className="inline-flex flex-wrap items-center gap-2">
          <Badge tone={toneOf(row.status)}>{row.status}</Badge>
          {row.error_class && <code className="text-ink-3">{row.error_class}</code>}
        </span>
      </td>
      <td className="num" data-label={t('logs.latency')} data-empty={row.latency_ms === null}>
        {row.latency_ms === null ? '—' : `${row.latency_ms} ${t('logs.ms')}`}
      </td>
      <td
        className="text-ink-2"
        data-label={t('logs.session')}
        data-empty={row.session_id === null}
      >
        {row.session_id === null ? '—' : <SessionLink id={row.session_id} />}
      </td>
      <td className="num" data-label={t('logs.chars')} data-empty={row.text_chars === null}>
        {row.text_chars ?? '—'}
      </td>
      <td data-label={t('logs.channel')} data-empty={row.channel === null} className="text-ink-2">
        {row.channel ?? '—'}
      </td>
    </tr>
  )
}
