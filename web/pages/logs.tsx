import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Activity, Radio, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import type { Logs as LogsAnswer } from '../api/types.ts'
import { useErrorClass } from '../features/logs/error-class.ts'
import { FilterBar, type Filters } from '../features/logs/filters.tsx'
import { LatencyChart } from '../features/logs/latency-chart.tsx'
import { LogTable } from '../features/logs/log-table.tsx'
import { chartsOfPeriod, chartsOfRows } from '../features/logs/period.ts'
import { joined, useRows } from '../features/logs/use-rows.ts'
import { useI18n } from '../i18n/index.tsx'
import { RowBars, Stat } from '../ui/bars.tsx'
import { Button } from '../ui/button.tsx'
import { More } from '../ui/more.tsx'
import { Page, Section } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** Rows at first, and with each click. */
const STEP = 50

export function Logs() {
  const { t } = useI18n()
  const navigate = useNavigate()
  const search: Record<string, unknown> = useSearch({ strict: false })
  const [live, setLive] = useState(false)
  const filters: Filters = Object.fromEntries(
    Object.entries(search).map(([name, value]) => [name, String(value)]),
  )
  const query = useRows(filters, live)
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = query
  const actions = (
    <>
      <Button
        icon={<Radio size={16} className={live ? 'text-good' : ''} aria-hidden />}
        aria-pressed={live}
        onClick={() => setLive(!live)}
      >
        {t('logs.live')}
      </Button>
      <Button
        icon={<RotateCw size={16} aria-hidden />}
        busy={query.isFetching && !live}
        onClick={() => void query.refetch()}
      >
        {t('action.refresh')}
      </Button>
    </>
  )
  const onChange = (next: Filters) => void navigate({ to: '.', search: next, replace: true })
  const older = hasNextPage && !live && (
    <div className="border-t border-line p-3 text-center">
      <Button
        kind="quiet"
        size="small"
        busy={isFetchingNextPage}
        onClick={() => void fetchNextPage()}
      >
        {t('logs.older')}
      </Button>
    </div>
  )
  return (
    <Page title={t('nav.logs')} about={t('logs.about')} actions={actions}>
      <FilterBar filters={filters} onChange={onChange} />
      <div className="mt-5">
        <Loaded query={query} rows={8}>
          {({ pages }) => {
            const [newest] = pages
            const rows = joined(pages)
            if (!newest || rows.length === 0) return <NoRows filters={filters} />
            return (
              <>
                {!live && <Figures answer={newest} filters={filters} />}
                <Section
                  title={t('logs.rows')}
                  about={t(live ? 'logs.live.about' : 'logs.rows.about')}
                >
                  <div className="card overflow-hidden">
                    <More rows={rows} step={STEP}>
                      {(shown) => <LogTable rows={shown} />}
                    </More>
                    {older}
                  </div>
                </Section>
              </>
            )
          }}
        </Loaded>
      </div>
    </Page>
  )
}

function NoRows({ filters }: { readonly filters: Filters }) {
  const { t } = useI18n()
  return (
    <div className="card">
      <Empty
        icon={<Activity />}
        title={t(Object.keys(filters).length > 0 ? 'logs.none' : 'logs.empty')}
        text={t('logs.empty.text')}
      />
    </div>
  )
}

interface FiguresProps {
  readonly answer: LogsAnswer
  readonly filters: Filters
}

/** Figures of all matching rows. */
function useCharts({ answer: { logs, summary }, filters }: FiguresProps) {
  const whole = useQuery({
    queryKey: ['logs', filters, 'charts', summary.count, logs[0]?.id],
    queryFn: () => chartsOfPeriod(api.logs, filters, Date.now()),
    placeholderData: keepPreviousData,
    enabled: summary.count > logs.length,
  })
  const all = summary.count > logs.length ? whole.data : null
  return all ?? chartsOfRows(logs)
}

function Figures(props: FiguresProps) {
  const { summary } = props.answer
  const { t, locale } = useI18n()
  const named = useErrorClass()
  const ms = (value: number | null) =>
    value === null ? '—' : `${value.toLocaleString(locale)} ${t('logs.ms')}`
  const { points, classes } = useCharts(props)
  return (
    <>
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat label={t('logs.count')} value={summary.count.toLocaleString(locale)} />
        <Stat
          label={t('logs.errors')}
          value={summary.err_count.toLocaleString(locale)}
          tone={summary.err_count > 0 ? 'bad' : undefined}
        />
        <Stat label={t('logs.p50')} value={ms(summary.p50_ms)} />
        <Stat label={t('logs.p95')} value={ms(summary.p95_ms)} />
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
              bars={classes.map(([name, value]) => ({
                label: named(name),
                value,
                title: t('system.summary', { name: named(name), value: value }),
              }))}
            />
          )}
        </div>
      </div>
    </>
  )
}
