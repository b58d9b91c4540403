import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Activity, RotateCw } from 'lucide-react'
import { LOGS_LIMIT_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import type { Logs as LogsAnswer } from '../api/types.ts'
import { FilterBar, type Filters } from '../features/logs/filters.tsx'
import { LatencyChart } from '../features/logs/latency-chart.tsx'
import { LogTable } from '../features/logs/log-table.tsx'
import { chartsOfPeriod, chartsOfRows } from '../features/logs/period.ts'
import { useI18n } from '../i18n/index.tsx'
import { RowBars, Stat } from '../ui/bars.tsx'
import { Button } from '../ui/button.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

const SHOWN_ROWS = 200
const HOUR_MS = 3_600_000

/** The page URL holds a number of hours; the server takes a start time. */
function queryOf({ hours, ...filters }: Filters): Record<string, string> {
  const since = hours ? { since: new Date(Date.now() - Number(hours) * HOUR_MS).toISOString() } : {}
  return { ...filters, ...since, limit: String(LOGS_LIMIT_MAX) }
}

export function Logs() {
  const { t } = useI18n()
  const navigate = useNavigate()
  const search: Record<string, unknown> = useSearch({ strict: false })
  const filters: Filters = Object.fromEntries(
    Object.entries(search).map(([name, value]) => [name, String(value)]),
  )
  const query = useQuery({
    queryKey: ['logs', filters],
    queryFn: () => api.logs(queryOf(filters)),
    placeholderData: keepPreviousData,
  })
  const again = (
    <Button
      icon={<RotateCw size={16} aria-hidden />}
      busy={query.isFetching}
      onClick={() => void query.refetch()}
    >
      {t('action.refresh')}
    </Button>
  )
  const onChange = (next: Filters) => void navigate({ to: '.', search: next, replace: true })
  return (
    <Page title={t('nav.logs')} about={t('logs.about')} actions={again}>
      <FilterBar filters={filters} onChange={onChange} />
      <div className="mt-5">
        <Loaded query={query} rows={8}>
          {(answer) => <Shown answer={answer} filters={filters} />}
        </Loaded>
      </div>
    </Page>
  )
}

interface ShownProps {
  readonly answer: LogsAnswer
  readonly filters: Filters
}

/** Figures of all matching rows. */
function useCharts({ answer: { logs, summary }, filters }: ShownProps) {
  const whole = useQuery({
    queryKey: ['logs', filters, 'charts', summary.count, logs[0]?.id],
    queryFn: () => chartsOfPeriod(api.logs, filters, Date.now()),
    placeholderData: keepPreviousData,
    enabled: summary.count > logs.length,
  })
  const all = summary.count > logs.length ? whole.data : null
  return all ?? chartsOfRows(logs)
}

function Shown(props: ShownProps) {
  const { logs, summary } = props.answer
  const { t, locale } = useI18n()
  const ms = (value: number | null) =>
    value === null ? '—' : `${value.toLocaleString(locale)} ${t('logs.ms')}`
  const { points, classes } = useCharts(props)
  if (logs.length === 0) {
    return (
      <div className="card">
        <Empty
          icon={<Activity />}
          title={t(Object.keys(props.filters).length > 0 ? 'logs.none' : 'logs.empty')}
          text={t('logs.empty.text')}
        />
      </div>
    )
  }
  return (
    <>
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat label={t('logs.count')} value={summary.count.toLocaleString(locale)} />
        <Stat
          label={t('logs.errors')}
          value={summary.err_count.toLocaleString(locale)}
          tone={summary.err_count > 0 ? 'bad' : undefined}
        />
        <Stat label="p50" value={ms(summary.p50_ms)} />
        <Stat label="p95" value={ms(summary.p95_ms)} />
      </div>
      <div className="mt-3 grid gap-3 lg:grid-cols-[2fr_1fr]">
        <div className="card p-5">
          <h2 className="mb-2">{t('logs.chart')}</h2>
          <LatencyChart points={points} />
        </div>
        <div className="card p-5">
          <h2 className="mb-4">{t('logs.classes')}</h2>
          {classes.length === 0 ? (
            <p className="text-ink-2">{t('logs.classes.none')}</p>
          ) : (
            <RowBars
              name={t('logs.classes')}
              bars={classes.map(([label, value]) => ({
                label,
                value,
                title: `${label}: ${value}`,
              }))}
            />
          )}
        </div>
      </div>
      <Section
        title={t('logs.rows')}
        about={t('logs.rows.about', { shown: Math.min(logs.length, SHOWN_ROWS) })}
      >
        <div className="card overflow-hidden">
          <LogTable rows={logs.slice(0, SHOWN_ROWS)} />
        </div>
      </Section>
    </>
  )
}
