import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { MessagesSquare } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { api } from '../api/index.ts'
import { SessionTable } from '../features/sessions/session-table.tsx'
import { useI18n } from '../i18n/index.tsx'
import { ListFoot, NextPage } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** Sessions of a page: few enough to read, and a click brings the next ones. */
const STEP = 50

export function Sessions() {
  const { t } = useI18n()
  const [text, setText] = useState('')
  const q = useDeferredValue(text.trim())
  const query = useInfiniteQuery({
    queryKey: ['sessions', 'titles', q],
    queryFn: ({ pageParam: before }) =>
      api.conversations.list({
        limit: STEP,
        ...(q === '' ? {} : { q }),
        ...(before === null ? {} : { before }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_before }) => next_before,
    placeholderData: keepPreviousData,
  })
  return (
    <Page title={t('nav.sessions')} about={t('sessions.about')}>
      <input
        className="input mb-4 max-w-xs"
        type="search"
        placeholder={t('sessions.find')}
        aria-label={t('sessions.find')}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="card overflow-hidden">
        <Loaded query={query} rows={8}>
          {({ pages }) => {
            const rows = pages.flatMap(({ conversations }) => conversations)
            return rows.length > 0 ? (
              <SessionTable rows={rows} query={q} />
            ) : (
              <Empty
                icon={<MessagesSquare />}
                title={t(q === '' ? 'sessions.empty' : 'sessions.unfound')}
                text={t(q === '' ? 'sessions.empty.text' : 'sessions.unfound.text')}
              />
            )
          }}
        </Loaded>
        {query.hasNextPage && (
          <ListFoot>
            <NextPage query={query} label={t('sessions.older')} />
          </ListFoot>
        )}
      </div>
    </Page>
  )
}
