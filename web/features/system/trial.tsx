import { CircleCheck, TriangleAlert } from 'lucide-react'
import type { LastTest } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { Ago, Notice } from '../../ui/page.tsx'

type Result = Omit<LastTest, 'part' | 'at'>

/** Which sentence stands for a reason of the server; the first that fits. */
const CLASSES: readonly (readonly [RegExp, Key])[] = [
  [/^not configured$/, 'trial.unset'],
  [/timeout|timed out|ETIMEDOUT|EABORTED/i, 'trial.timeout'],
  [/^HTTP 40[13]\b|EAUTH|ENOAUTH/, 'trial.key'],
  [/^HTTP 404\b/, 'trial.path'],
  [/^HTTP 4(?:02|29)\b/, 'trial.quota'],
  [/^HTTP 4\d\d\b/, 'trial.refused'],
  [/^HTTP 5\d\d\b/, 'trial.broken'],
  [/connection|ESOCKET|ECONN|EDNS/i, 'trial.connection'],
  [/EENVELOPE|EMESSAGE/, 'trial.mail'],
]

/** What a failed test means and what to do next. */
function useReason(): (text: string) => string {
  const { t } = useI18n()
  return (text) => {
    const known = CLASSES.find(([pattern]) => pattern.test(text))
    return known ? t(known[1]) : t('trial.other', { text })
  }
}

/** How a test went, in words. */
export function TrialResult({ result }: { readonly result: Result }) {
  const { t } = useI18n()
  const reasonOf = useReason()
  return result.ok ? (
    <Notice tone="good" icon={<CircleCheck size={16} />}>
      {t('system.test.ok', { ms: result.latency_ms, text: result.text })}
    </Notice>
  ) : (
    <Notice tone="bad" icon={<TriangleAlert size={16} />}>
      {reasonOf(result.text)}
    </Notice>
  )
}

/** When a part was last tried, and how it went, in a line. */
export function LastTrial({ test }: { readonly test: LastTest }) {
  const { t } = useI18n()
  const Icon = test.ok ? CircleCheck : TriangleAlert
  return (
    <span className="inline-flex w-full items-center gap-1.5 text-note">
      <Icon size={15} className={test.ok ? 'text-good' : 'text-warn'} aria-hidden />
      {test.ok
        ? t('trial.answered', { ms: test.latency_ms, text: test.text })
        : t('trial.last.failed')}
      {' · '}
      <Ago at={test.at} />
    </span>
  )
}
