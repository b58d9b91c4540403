import { LoaderCircle } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'

const SHOWN_FROM_S = 3

/** Shows how long the answer has been awaited; `since` is a `performance.now()`. */
export function Waiting({ since }: { readonly since: number }) {
  const { t } = useI18n()
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const count = () => setSeconds(Math.floor((performance.now() - since) / 1_000))
    count()
    const timer = setInterval(count, 1_000)
    return () => clearInterval(timer)
  }, [since])
  return (
    <span className="text-ink-3">
      <LoaderCircle size={15} className="mr-1.5 inline animate-spin" aria-hidden />
      {t('studio.waiting')}
      {seconds >= SHOWN_FROM_S && ` ${t('studio.seconds', { total: seconds })}`}
    </span>
  )
}
