import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { api } from '../../api/index.ts'
import type { Overview as Numbers } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { sizeOf } from '../../lib/sizes.ts'
import { Ago } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'

/** The server in numbers, each with the page where it can be changed. */
export function Overview() {
  const { t } = useI18n()
  const overview = useQuery({ queryKey: ['system', 'overview'], queryFn: api.system.overview })
  return (
    <Loaded query={overview}>
      {(numbers) => (
        <dl className="card divide-y divide-line" aria-label={t('nav.server.overview')}>
          <Rows numbers={numbers} />
        </dl>
      )}
    </Loaded>
  )
}

const Good = ({ ok }: { readonly ok: boolean }) =>
  ok ? (
    <CircleCheck size={16} className="mt-1 flex-none text-good" aria-hidden />
  ) : (
    <TriangleAlert size={16} className="mt-1 flex-none text-warn" aria-hidden />
  )

function Rows({ numbers }: { readonly numbers: Numbers }) {
  const { t, locale } = useI18n()
  const { disk, memory, last_backup: backup, channel } = numbers
  const { turns_hour: turns, failures_hour: failures } = numbers
  // A model may be listed, and refuse each question.
  const isFailing = turns > 0 && failures * 2 >= turns
  const model = channel.ok ? (isFailing ? 'failing' : 'ok') : 'down'
  const words = numbers.by_door.map((row) => `${t(`door.${row.door}`)} ${row.turns}`)
  return (
    <>
      <Row name="model" to="/app/system/models">
        <Good ok={model === 'ok'} />
        {t(`overview.model.${model}`)}
      </Row>
      <Row name="turns" to="/app/activity">
        {t('overview.turns.of', { turns, failures })}
        {words.length > 0 && t('overview.turns.doors', { list: listed(words, locale) })}
      </Row>
      <Row name="people" to="/app/system/people">
        {numbers.people_today}
      </Row>
      <Row name="backup" to="/app/system/limits">
        <Good ok={backup?.ok === true} />
        {backup === null ? t('overview.backup.none') : <Ago at={backup.at} />}
        {backup?.ok === false && t('backups.failed')}
      </Row>
      <Row name="disk" to="/app/system/limits">
        {t('overview.disk.of', {
          free: sizeOf(disk.free_bytes, locale),
          all: sizeOf(disk.free_bytes + disk.used_bytes, locale),
        })}
      </Row>
      <Row name="memory">{sizeOf(memory.rss_bytes, locale)}</Row>
      <Row name="version">
        Moonbase {numbers.version} · <Uptime seconds={numbers.uptime_s} />
      </Row>
    </>
  )
}

function Uptime({ seconds }: { readonly seconds: number }) {
  const { t } = useI18n()
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  if (hours === 0) return t('overview.uptime.minutes', { minutes })
  if (hours < 48) return t('overview.uptime', { hours })
  return t('overview.uptime.days', { days: Math.floor(hours / 24) })
}

interface RowProps {
  readonly name: 'model' | 'turns' | 'people' | 'backup' | 'disk' | 'memory' | 'version'
  readonly to?: string
  readonly children: ReactNode
}

function Row({ name, to, children }: RowProps) {
  const { t } = useI18n()
  return (
    <div className="flex flex-wrap items-baseline gap-x-6 gap-y-1 px-5 py-3">
      <dt className="w-full text-ink-3 sm:w-44">{t(`overview.${name}`)}</dt>
      <dd className="flex min-w-0 flex-1 gap-2">{children}</dd>
      {to && (
        <dd className="whitespace-nowrap">
          <Link
            to={to}
            className="target -mx-3 -my-2.5 px-3 text-accent"
            aria-label={t('system.summary', {
              name: t('server.open'),
              value: t(`overview.${name}`),
            })}
          >
            {t('server.open')}
          </Link>
        </dd>
      )}
    </div>
  )
}
