import { Link } from '@tanstack/react-router'
import type { KbLimits } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useOperator } from '../../lib/rights.ts'
import { Notice } from '../../ui/page.tsx'
import type { Library } from './library.ts'

/** From this share of the limit on, the page says how to get more. */
const NEARLY_FULL = 0.8

interface RoomProps {
  readonly library: Library
  readonly limits: KbLimits
}

/** What takes the most of the limit, and who can raise it when little is left. */
export function Room({ library, limits }: RoomProps) {
  const { t, locale } = useI18n()
  const left = limits.docs_max - library.docs
  const largest =
    library.largest &&
    t('kb.room.largest', {
      title: library.largest.title,
      count: library.largest.parts.toLocaleString(locale),
    })
  if (library.docs < limits.docs_max * NEARLY_FULL) {
    return largest && <p className="mb-3 text-note text-ink-2 wrap-anywhere">{largest}</p>
  }
  return (
    <div className="mb-3">
      <Notice tone="warn">
        {left > 0 ? t('kb.room.left', { count: left.toLocaleString(locale) }) : t('kb.full')}{' '}
        {largest} <More />
      </Notice>
    </div>
  )
}

function More() {
  const { t } = useI18n()
  const isOperator = useOperator()
  if (!isOperator) return t('kb.room.ask')
  return (
    <Link to="/app/system/limits" className="underline underline-offset-2">
      {t('kb.room.raise')}
    </Link>
  )
}
