import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { DEVICE_ONLINE_MS_MAX } from '../../../src/core/limits/contract.ts'
import { serverNow } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { LogRow } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Bars, Stat } from '../../ui/bars.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { useErrorClass } from '../logs/error-class.ts'
import { useShownTitle } from '../sessions/shown-title.ts'
import { searchOf } from '../studio/known.ts'
import type { Facts } from './steps.ts'
import { requestsByDay } from './week.ts'

const SHOWN = 5

const useWeek = () =>
  useQuery({ queryKey: ['logs', 'week'], queryFn: () => requestsByDay(api.logs, new Date()) })

const isOnline = (seen: string | null) =>
  seen !== null && serverNow() - Date.parse(seen) < DEVICE_ONLINE_MS_MAX

/** Today, by the reader's clock. */
export function Figures({ facts }: { readonly facts: Facts }) {
  const { t, locale } = useI18n()
  const today = useWeek().data?.at(-1)
  const number = (value: number | undefined) => value?.toLocaleString(locale) ?? '–'
  const online = facts.devices?.filter(({ last_seen_at }) => isOnline(last_seen_at))
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Stat label={t('home.today')} value={number(today?.count)} />
      <Stat
        label={t('home.today.errors')}
        value={number(today?.errors)}
        tone={today && today.errors > 0 ? 'bad' : undefined}
      />
      <Stat label={t('kb.docs')} value={number(facts.docs)} />
      <Stat label={t('home.online')} value={number(online?.length)} />
    </div>
  )
}

/** Recent events; a section is missing until it has content. */
export function Overview({ facts }: { readonly facts: Facts }) {
  return (
    <div className="mt-3 grid gap-3 lg:grid-cols-2">
      <Conversations />
      <Errors />
      <Week />
      <Devices facts={facts} />
    </div>
  )
}

interface PanelProps {
  readonly title: string
  readonly to: string
  readonly children: ReactNode
}

function Panel({ title, to, children }: PanelProps) {
  const { t } = useI18n()
  return (
    <section className="card min-w-0">
      <div className="flex items-baseline justify-between gap-4 px-5 pt-4 pb-1">
        <h2>{title}</h2>
        <Link
          to={to}
          className="target -mx-3 px-3 text-note text-accent"
          aria-label={t('system.summary', { name: t('home.all'), value: title })}
        >
          {t('home.all')}
        </Link>
      </div>
      {children}
    </section>
  )
}

const Rows = ({ children }: { readonly children: ReactNode }) => (
  <ul className="divide-y divide-line px-5 pb-2 text-note">{children}</ul>
)

const ROW = 'target flex items-center justify-between gap-4 py-1.5'

function Conversations() {
  const { t } = useI18n()
  const shownTitle = useShownTitle()
  const { data } = useQuery({
    queryKey: ['sessions', 'newest'],
    queryFn: () => api.conversations.list({ limit: SHOWN }),
  })
  if (!data?.conversations.length) return null
  return (
    <Panel title={t('home.conversations')} to="/app">
      <Rows>
        {data.conversations.map((conversation) => (
          <li key={conversation.id}>
            <Link to="/app" search={searchOf(conversation)} className={ROW}>
              <span className="truncate">{shownTitle(conversation.title) || conversation.id}</span>
              <span className="flex-none text-small text-ink-3">
                <Ago at={conversation.last_at} />
              </span>
            </Link>
          </li>
        ))}
      </Rows>
    </Panel>
  )
}

/** The newest refusals and faults. */
async function newestErrors(): Promise<LogRow[]> {
  const limit = String(SHOWN)
  const answers = await Promise.all(['4xx', '5xx'].map((status) => api.logs({ status, limit })))
  const rows = answers.flatMap(({ logs }) => logs)
  return rows.sort((a, b) => Date.parse(b.ts) - Date.parse(a.ts)).slice(0, SHOWN)
}

function Errors() {
  const { t } = useI18n()
  const named = useErrorClass()
  const { data } = useQuery({ queryKey: ['logs', 'errors'], queryFn: newestErrors })
  if (!data?.length) return null
  return (
    <Panel title={t('home.errors')} to="/app/logs">
      <Rows>
        {data.map(({ id, endpoint, status, error_class, ts }) => (
          <li key={id}>
            <Link to="/app/logs" search={{ status: String(status) }} className={ROW}>
              <span className="flex min-w-0 items-center gap-2.5">
                <span className="flex-none">
                  <Badge tone={status >= 500 ? 'bad' : 'warn'}>{status}</Badge>
                </span>
                <span className="min-w-0 truncate">
                  {error_class ? named(error_class) : endpoint}
                </span>
              </span>
              <span className="flex-none text-small text-ink-3">
                <Ago at={ts} />
              </span>
            </Link>
          </li>
        ))}
      </Rows>
    </Panel>
  )
}

function Week() {
  const { t, locale } = useI18n()
  const { data } = useWeek()
  if (!data?.some(({ count }) => count > 0)) return null
  const bars = data.map(({ from, count, errors }) => {
    const day = from.toLocaleDateString(locale, { dateStyle: 'long' })
    const label = from.toLocaleDateString(locale, { month: 'numeric', day: 'numeric' })
    return { label, value: count, title: t('home.week.day', { day, count, errors }) }
  })
  return (
    <Panel title={t('home.week')} to="/app/usage">
      <div className="p-5 pt-2">
        <Bars bars={bars} name={t('home.week')} />
      </div>
    </Panel>
  )
}

function Devices({ facts }: { readonly facts: Facts }) {
  const { t } = useI18n()
  const paired = facts.devices?.filter(({ activated_at }) => activated_at !== null) ?? []
  if (paired.length === 0) return null
  return (
    <Panel title={t('nav.devices')} to="/app/devices">
      <Rows>
        {paired.slice(0, SHOWN).map(({ id, name, last_seen_at }) => (
          <li key={id} className={ROW}>
            <span className="truncate">{name}</span>
            <span className="flex-none text-small text-ink-3">
              {isOnline(last_seen_at) ? (
                <Badge tone="good">{t('devices.online')}</Badge>
              ) : last_seen_at ? (
                <Ago at={last_seen_at} />
              ) : (
                t('devices.offline')
              )}
            </span>
          </li>
        ))}
      </Rows>
    </Panel>
  )
}
