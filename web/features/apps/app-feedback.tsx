import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { api } from '../../api/index.ts'
import type { App, FeedbackList } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useTimes } from '../../lib/time.ts'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'

/** The thumbs for answers of this app, those down first. */
export function AppFeedback({ app }: { readonly app: App }) {
  const { t } = useI18n()
  const query = useQuery({
    queryKey: ['feedback', app.id],
    queryFn: async () => {
      const [down, up] = await Promise.all([
        api.feedback.list(app.id, -1),
        api.feedback.list(app.id, 1),
      ])
      return { ...down, items: [...down.items, ...up.items] }
    },
  })
  return (
    <Section title={t('feedback.title')} about={t('feedback.about')}>
      <div className="card overflow-hidden">
        <Loaded query={query} rows={2}>
          {({ up, down, items }) =>
            items.length === 0 ? (
              <Empty icon={<ThumbsUp />} title={t('feedback.empty')} />
            ) : (
              <>
                <p className="px-5 py-3 font-medium">{t('feedback.counts', { up, down })}</p>
                <ul className="divide-y divide-line border-t border-line">
                  {items.map((item) => (
                    <Item key={item.id} item={item} />
                  ))}
                </ul>
              </>
            )
          }
        </Loaded>
      </div>
    </Section>
  )
}

function Item({ item }: { readonly item: FeedbackList['items'][number] }) {
  const { t } = useI18n()
  const { exact } = useTimes()
  const isGood = item.rating > 0
  const icon = { size: 16, 'aria-hidden': true } as const
  return (
    <li className="flex items-start gap-3 px-5 py-3">
      {isGood ? <ThumbsUp {...icon} /> : <ThumbsDown {...icon} />}
      <div className="min-w-0">
        <span className="sr-only">{t(isGood ? 'feedback.good' : 'feedback.bad')}</span>
        {item.reason !== null && (
          <span className="font-medium">{t(`feedback.reason.${item.reason}` as Key)} </span>
        )}
        {item.text !== null && <span className="break-words">{item.text}</span>}
        <Link
          to="/app"
          search={{ session: item.session_id }}
          className="-my-3.5 block py-3.5 text-small text-ink-2 underline underline-offset-2"
        >
          {exact(item.ts)}
        </Link>
      </div>
    </li>
  )
}
