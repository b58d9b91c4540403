import { useQuery } from '@tanstack/react-query'
import { type Webhook, webhooks } from '../../api/webhooks.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { MINUTE_MS, useNow } from '../../lib/time.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'

const TONES = { done: 'good', waiting: 'accent', failed: 'bad' } as const

interface DeliveriesProps {
  /** Null shows none. */
  readonly webhook: Webhook | null
  readonly onClose: () => void
}

/** What was sent last, and what waits. */
export function Deliveries({ webhook, onClose }: DeliveriesProps) {
  const { t } = useI18n()
  const now = useNow(MINUTE_MS / 2)
  const query = useQuery({
    queryKey: ['webhooks', 'deliveries', webhook?.id],
    queryFn: () => webhooks.deliveries(webhook?.id ?? ''),
    enabled: webhook !== null,
  })
  return (
    <Dialog
      wide
      title={t('hooks.deliveries.of', { name: webhook?.name ?? '' })}
      open={webhook !== null}
      onClose={onClose}
    >
      <Loaded query={query}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <p className="text-ink-2">{t('hooks.deliveries.none')}</p>
          ) : (
            <ul className="divide-y divide-line">
              {deliveries.map(({ id, event, at, status, tries, state, next_at: next }) => (
                <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
                  <Badge tone={TONES[state]}>{t(`hooks.state.${state}`)}</Badge>
                  <span className="min-w-0 flex-1">{t(`hooks.event.${event}` as Key)}</span>
                  <span className="basis-full text-note text-ink-2 sm:basis-auto">
                    {status === null
                      ? t('hooks.tries.none', { tries })
                      : t('hooks.tries', { tries, status })}
                    {/* Within a minute "now" would be said, which it is not. */}
                    {next !== null && +new Date(next) - now >= MINUTE_MS && (
                      <>
                        {' · '}
                        {t('hooks.again')} <Ago at={next} />
                      </>
                    )}
                    {' · '}
                    <Ago at={at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  )
}
