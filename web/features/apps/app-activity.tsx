import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import type { App } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Stat } from '../../ui/bars.tsx'
import { Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { costOf, isPriced, useCost } from '../usage/cost.ts'
import { AppDays } from './app-days.tsx'

const DAY_MS = 86_400_000
const NOTHING = { calls: 0, input_tokens: 0, output_tokens: 0 }

/** The requests of an app on a day (UTC) that ended in an error. */
async function errorsOn(id: string, day: number): Promise<number> {
  const [since, until] = [day * DAY_MS, (day + 1) * DAY_MS - 1].map((at) =>
    new Date(at).toISOString(),
  )
  const { summary } = await api.logs({
    app_id: id,
    since: since ?? '',
    until: until ?? '',
    limit: '1',
  })
  return summary.err_count
}

async function load(id: string) {
  const [usage, settings] = await Promise.all([api.usage(id), api.settings.read()])
  const errors = await Promise.all(usage.daily.map(({ day }) => errorsOn(id, day)))
  const used = usage.by_app.find(({ app_id }) => app_id === id) ?? NOTHING
  return { used, settings, daily: usage.daily, errors }
}

/** What an assistant did and used in the last seven days. */
export function AppActivity({ app }: { readonly app: App }) {
  const query = useQuery({ queryKey: ['usage', 'app', app.id], queryFn: () => load(app.id) })
  return (
    <Loaded query={query} rows={1}>
      {(activity) => (
        <>
          <Sums id={app.id} activity={activity} />
          <AppDays daily={activity.daily} errors={activity.errors} />
        </>
      )}
    </Loaded>
  )
}

interface SumsProps {
  readonly id: string
  readonly activity: Awaited<ReturnType<typeof load>>
}

function Sums({ id, activity }: SumsProps) {
  const { t, locale } = useI18n()
  const cost = useCost()
  const { used, settings, errors } = activity
  const number = (value: number) => value.toLocaleString(locale)
  const failures = errors.reduce((sum, count) => sum + count, 0)
  const link = 'underline underline-offset-2'
  return (
    <Section title={t('activity.title')} about={t('activity.about')}>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        <Stat label={t('usage.calls')} value={number(used.calls)} />
        <Stat
          label={t('activity.failures')}
          value={number(failures)}
          tone={failures > 0 ? 'bad' : undefined}
          note={
            <Link to="/app/logs" search={{ app_id: id }} className={link}>
              {t('activity.logs')}
            </Link>
          }
        />
        <Stat
          label={t('activity.tokens')}
          value={number(used.input_tokens + used.output_tokens)}
          note={t('usage.in.out', {
            input: number(used.input_tokens),
            output: number(used.output_tokens),
          })}
        />
        <Stat
          label={t('usage.cost.week')}
          value={isPriced(settings) ? cost(costOf(used, settings)) : '–'}
          note={
            <Link to="/app/settings" className={link}>
              {t(isPriced(settings) ? 'usage.cost.about' : 'usage.cost.set')}
            </Link>
          }
        />
      </div>
    </Section>
  )
}
