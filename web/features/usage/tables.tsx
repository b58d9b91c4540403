import type { ReactNode } from 'react'
import type { ApiKeyMeta, App, Me, Member, Settings, Usage } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { More } from '../../ui/more.tsx'
import { Section } from '../../ui/page.tsx'
import { BudgetBar } from '../keys/key-table.tsx'
import { endsOf, useScopeOf } from '../keys/names.ts'
import { costOf, isPriced, useCost } from './cost.ts'

/** Rows that are shown before somebody asks for more. */
const SHOWN = 20

interface Tokens {
  readonly input_tokens: number
  readonly output_tokens: number
}

interface TableProps<Row extends Tokens> {
  readonly title: string
  readonly about?: string
  readonly rows: readonly (Row & { readonly calls?: number })[]
  readonly settings: Settings
  readonly idOf: (row: Row) => string
  readonly name: (row: Row) => ReactNode
  /** The head and cells of one more column. */
  readonly more?: { readonly head: string; readonly cell: (row: Row) => ReactNode }
}

/** Calls, tokens and their estimated cost, a row for each app, key or channel. */
function UsageTable<Row extends Tokens>(props: TableProps<Row>) {
  const { title, about, rows, settings, idOf, name, more } = props
  const { t, locale } = useI18n()
  const cost = useCost()
  const number = (value: number) => value.toLocaleString(locale)
  if (rows.length === 0) return null
  const heads = [
    ...(rows[0]?.calls === undefined ? [] : [t('usage.calls')]),
    t('usage.input'),
    t('usage.output'),
    ...(isPriced(settings) ? [t('usage.cost')] : []),
  ]
  return (
    <Section title={title} about={about}>
      <div className="card overflow-x-auto">
        <More rows={rows} step={SHOWN}>
          {(shown) => (
            <table className="rows stack">
              <thead>
                <tr>
                  <th>{t('field.name')}</th>
                  {heads.map((head) => (
                    <th key={head} className="num">
                      {head}
                    </th>
                  ))}
                  {more && <th>{more.head}</th>}
                </tr>
              </thead>
              <tbody>
                {shown.map((row) => (
                  <tr key={idOf(row)}>
                    <td className="lead">{name(row)}</td>
                    {row.calls !== undefined && (
                      <td className="num" data-label={t('usage.calls')}>
                        {number(row.calls)}
                      </td>
                    )}
                    <td className="num" data-label={t('usage.input')}>
                      {number(row.input_tokens)}
                    </td>
                    <td className="num" data-label={t('usage.output')}>
                      {number(row.output_tokens)}
                    </td>
                    {isPriced(settings) && (
                      <td className="num" data-label={t('usage.cost')}>
                        {cost(costOf(row, settings))}
                      </td>
                    )}
                    {more && <td data-label={more.head}>{more.cell(row)}</td>}
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </More>
      </div>
    </Section>
  )
}

interface KeyNameProps {
  /** Undefined for a key that the workspace does not list any more. */
  readonly item: ApiKeyMeta | undefined
  readonly prefix: string
}

/** The key by its name, or by what it is for: most have no name of their own. */
function KeyName({ item, prefix }: KeyNameProps) {
  return (
    <div className="min-w-0">
      {item && <KeyFor item={item} />}
      <code className="text-ink-2">{endsOf(item ?? { prefix, tail: null })}</code>
    </div>
  )
}

function KeyFor({ item }: { readonly item: ApiKeyMeta }) {
  const scope = useScopeOf(item)
  return <span className="block truncate font-medium">{item.name || scope}</span>
}

interface UsageTablesProps {
  readonly usage: Usage
  readonly settings: Settings
  readonly apps: readonly App[]
  readonly keys: readonly ApiKeyMeta[]
  readonly me: Me
  /** Of owners; others see themselves. */
  readonly members: readonly Member[]
}

/** The week by source, person, app, key and channel. */
export function UsageTables(props: UsageTablesProps) {
  const { usage, settings, apps, keys, me, members } = props
  const { t, locale } = useI18n()
  const emails = new Map(members.map(({ user_id, email }) => [user_id, email]))
  const appNames = new Map(apps.map(({ id, name }) => [id, name]))
  const byId = new Map(keys.map((key) => [key.id, key]))
  const spent = new Map(usage.spent_today.map(({ key_id, tokens }) => [key_id, tokens]))
  const budget = ({ key_id }: Usage['by_key'][number]) => {
    const most = byId.get(key_id)?.daily_tokens ?? 0
    if (most === 0) return <span className="text-ink-3">{t('usage.budget.none')}</span>
    const today = spent.get(key_id) ?? 0
    return (
      <span className="grid min-w-32 gap-1 text-small text-ink-2">
        {t('keys.tokens.spent', {
          spent: today.toLocaleString(locale),
          all: most.toLocaleString(locale),
        })}
        <BudgetBar spent={today} budget={most} />
      </span>
    )
  }
  return (
    <>
      <UsageTable
        title={t('usage.sources')}
        rows={usage.by_source}
        settings={settings}
        idOf={({ source }) => source}
        name={({ source }) => t(`usage.source.${source}`)}
      />
      <UsageTable
        title={t('usage.by.person')}
        about={t('usage.by.person.about')}
        rows={usage.by_person}
        settings={settings}
        idOf={({ user_id }) => user_id}
        name={({ user_id }) =>
          user_id === me.user_id
            ? t('usage.person.you')
            : (emails.get(user_id) ?? t('usage.person.gone'))
        }
      />
      <UsageTable
        title={t('usage.by.app')}
        rows={usage.by_app}
        settings={settings}
        idOf={({ app_id }) => app_id ?? ''}
        name={({ app_id }) =>
          app_id === null
            ? t('usage.no.app')
            : (appNames.get(app_id) ?? t('usage.gone', { id: app_id }))
        }
      />
      <UsageTable
        title={t('usage.by.key')}
        about={t('usage.by.key.about')}
        rows={usage.by_key}
        settings={settings}
        idOf={({ key_id }) => key_id}
        name={({ key_id, prefix }) => <KeyName item={byId.get(key_id)} prefix={prefix} />}
        more={{ head: t('usage.budget'), cell: budget }}
      />
      <UsageTable
        title={t('usage.by.channel')}
        rows={usage.by_channel}
        settings={settings}
        idOf={({ channel }) => channel}
        name={({ channel }) => t(CHANNELS[channel as keyof typeof CHANNELS] ?? 'channel.platform')}
      />
    </>
  )
}

const CHANNELS = {
  byo: 'channel.byo',
  platform: 'channel.platform',
  platform_fallback: 'channel.fallback',
} as const
