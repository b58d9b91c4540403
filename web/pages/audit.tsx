import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ScrollText } from 'lucide-react'
import { api } from '../api/index.ts'
import type { Audit } from '../api/types.ts'
import { ChangedBy, Target } from '../features/audit/entry.tsx'
import { AuditFilterBar, type AuditFilters } from '../features/audit/filters.tsx'
import { type Key, useI18n } from '../i18n/index.tsx'
import { ListFoot, NextPage } from '../ui/more.tsx'
import { Ago, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

type Entry = Audit['entries'][number]

/** Who changed what; for owners and operators. */
export function AuditPage() {
  const { t } = useI18n()
  const { filters, onChange } = useFilters()
  const { actor, action } = filters
  const query = useInfiniteQuery({
    queryKey: ['audit', actor, action],
    queryFn: ({ pageParam }) => api.audit({ before: pageParam, actor, action }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_before,
  })
  const empty = query.hasNextPage ? 'audit.none.yet' : 'audit.none'
  return (
    <Page title={t('nav.audit')} about={t('audit.about')}>
      <AuditFilterBar filters={filters} onChange={onChange} />
      <div className="card mt-5 overflow-hidden">
        <Loaded query={query}>
          {({ pages }) => {
            const entries = pages.flatMap((page) => page.entries)
            return entries.length === 0 ? (
              <Empty icon={<ScrollText />} title={t(actor || action ? empty : 'audit.empty')} />
            ) : (
              <EntryTable entries={entries} />
            )
          }}
        </Loaded>
        {query.hasNextPage && (
          <ListFoot>
            <NextPage query={query} label={t('audit.more')} />
          </ListFoot>
        )}
      </div>
    </Page>
  )
}

/** The filters of the page's address. */
function useFilters() {
  const navigate = useNavigate()
  const search: Record<string, unknown> = useSearch({ strict: false })
  const filters: AuditFilters = {
    actor: String(search.actor ?? ''),
    action: String(search.action ?? ''),
  }
  const onChange = (next: AuditFilters) => {
    const given = Object.entries(next).filter(([, value]) => value !== '')
    void navigate({ to: '.', search: Object.fromEntries(given), replace: true })
  }
  return { filters, onChange }
}

function EntryTable({ entries }: { readonly entries: readonly Entry[] }) {
  const { t, wordsOf } = useActions()
  return (
    <table className="rows stack">
      <thead>
        <tr>
          <th>{t('audit.what')}</th>
          <th>{t('audit.who')}</th>
          <th>{t('audit.when')}</th>
          <th>{t('audit.target')}</th>
          <th>{t('audit.from')}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id}>
            <td className="lead">{wordsOf(entry.action)}</td>
            <td data-label={t('audit.who')} className="break-all">
              <ChangedBy entry={entry} />
            </td>
            <td data-label={t('audit.when')} className="text-ink-2">
              <Ago at={entry.ts} />
            </td>
            <td data-label={t('audit.target')} className="break-words">
              <Target entry={entry} />
            </td>
            <td data-label={t('audit.from')} className="text-ink-2">
              <code>{entry.address}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The text of an action; every action has one (test/api/audit.test.ts). */
function useActions() {
  const { t } = useI18n()
  const wordsOf = (action: string): string => {
    const [noun, verb] = action.split('.')
    const key = verb === undefined ? `audit.action.${noun}` : `audit.action.${noun}.${verb}`
    return t(key as Key)
  }
  return { t, wordsOf }
}
