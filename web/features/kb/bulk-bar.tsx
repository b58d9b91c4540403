import { useI18n } from '../../i18n/index.tsx'
import { useExplain } from '../../lib/services.tsx'
import { ProgressBar } from '../../ui/bars.tsx'
import { Button } from '../../ui/button.tsx'
import { type Bulk, type BulkActs, useBulkActs } from './bulk.ts'

const RUNNING = {
  move: 'kb.bulk.move',
  check: 'kb.bulk.check',
  delete: 'kb.bulk.delete',
} as const

/** More are counted alone. */
const FAILURES_MAX = 50

/** How far it is with several items; afterwards, which of them failed and why. */
export function BulkBar() {
  const { t, locale } = useI18n()
  const number = (count: number) => count.toLocaleString(locale)
  const { bulk, stop, retry, close } = useBulkActs()
  const isOn = bulk !== null && bulk.state !== 'ended'
  const all = bulk?.items.length ?? 0
  const words = (done: number) =>
    isOn ? t(RUNNING[bulk.act], { done: number(done), all: number(all) }) : ''
  // Heard at each quarter, and not with each item.
  const quarter = isOn ? Math.floor((bulk.tried / all) * 4) : 0
  const waits = isOn && bulk.limited > 0 && t('kb.bulk.limited')
  return (
    <>
      <p role="status" className="sr-only">
        {words(Math.floor((quarter * all) / 4))}
      </p>
      <p role="status" className="sr-only">
        {waits}
      </p>
      {isOn && (
        <div className="grid gap-2 border-b border-line px-4 py-3">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <span aria-hidden>{words(bulk.tried)}</span>
            <Button size="small" disabled={bulk.state === 'stopping'} onClick={stop}>
              {t('kb.bulk.stop')}
            </Button>
          </div>
          <ProgressBar share={bulk.tried / all} />
          {waits && (
            <p className="text-small text-ink-2" aria-hidden>
              {waits}
            </p>
          )}
        </div>
      )}
      {bulk?.state === 'ended' && <Ended bulk={bulk} retry={retry} close={close} />}
    </>
  )
}

type EndedProps = { readonly bulk: Bulk } & Pick<BulkActs, 'retry' | 'close'>

function Ended({ bulk, retry, close }: EndedProps) {
  const { t, locale } = useI18n()
  const number = (count: number) => count.toLocaleString(locale)
  const explain = useExplain()
  const { items, tried, failures } = bulk
  const done = tried - failures.length
  const left = items.length - tried
  return (
    <div className="grid gap-2 border-b border-line px-4 py-3">
      <p role="alert">
        {[
          t('kb.bulk.ended', { done: number(done), all: number(items.length) }),
          failures.length > 0 && t('kb.bulk.ended.failed', { count: number(failures.length) }),
          left > 0 && t('kb.bulk.ended.left', { count: number(left) }),
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
      {failures.length > 0 && (
        <ul className="max-h-48 overflow-y-auto text-small text-bad">
          {failures.slice(0, FAILURES_MAX).map(({ item, error }) => (
            <li key={item.id} className="wrap-anywhere">
              {t('kb.bulk.failure', { title: item.title, reason: explain(error) })}
            </li>
          ))}
          {failures.length > FAILURES_MAX && (
            <li>{t('kb.bulk.failure.more', { count: number(failures.length - FAILURES_MAX) })}</li>
          )}
        </ul>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button size="small" onClick={close}>
          {t('action.close')}
        </Button>
        <Button size="small" kind="primary" onClick={retry}>
          {t('kb.bulk.retry', { count: number(items.length - done) })}
        </Button>
      </div>
    </div>
  )
}
