import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { CHAT } from '../../shell/nav.ts'
import { Ago, Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { useShownTitle } from './shown-title.ts'

const SHOWN = 10

interface TalkListProps {
  /** Whose talks: of a device, or those that an app answered last. */
  readonly of: { readonly device_id: string } | { readonly app_id: string }
  readonly about: string
}

/** The newest talks of a device or an app that the reader may read. */
export function TalkList({ of, about }: TalkListProps) {
  const { t } = useI18n()
  const shown = useShownTitle()
  const query = useQuery({
    queryKey: ['conversations', of],
    queryFn: () => api.conversations.list({ ...of, limit: SHOWN }),
  })
  return (
    <Section title={t('talks.title')} about={about}>
      <div className="card overflow-hidden">
        <Loaded query={query} rows={2}>
          {({ conversations }) =>
            conversations.length === 0 ? (
              <Empty icon={<MessagesSquare />} title={t('talks.empty')} />
            ) : (
              <ul className="divide-y divide-line">
                {conversations.map(({ id, title, last_at, turn_count }) => (
                  <li
                    key={id}
                    className="flex flex-wrap items-baseline justify-between gap-x-4 px-5 py-3"
                  >
                    <Link
                      to={CHAT}
                      search={{ session: id }}
                      className="-my-3.5 min-w-0 max-w-full truncate py-3.5 underline"
                    >
                      {shown(title) || t('talks.untitled')}
                    </Link>
                    <span className="shrink-0 text-small text-ink-3">
                      {t('talks.turns', { count: turn_count })} · <Ago at={last_at} />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Section>
  )
}
