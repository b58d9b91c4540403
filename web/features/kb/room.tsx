import { Link } from '@tanstack/react-router'
import { useI18n } from '../../i18n/index.tsx'
import { useOperator } from '../../lib/rights.ts'
import { Notice } from '../../ui/page.tsx'
import { itemsOf, type Library, titleOf } from './library.ts'

/** From this share of the limit on, the page says how to get more. */
const NEARLY_FULL = 0.8

/** What takes the most of the limit, and who can raise it when little is left. */
export function Room({ library }: { readonly library: Library }) {
  const { t } = useI18n()
  const { docs, limits } = library
  const left = limits.docs_max - docs.length
  const largest = useLargest(library)
  if (docs.length < limits.docs_max * NEARLY_FULL) {
    return largest && <p className="mb-3 text-note text-ink-2">{largest}</p>
  }
  return (
    <div className="mb-3">
      <Notice tone="warn">
        {left > 0 ? t('kb.room.left', { count: left }) : t('kb.full')} {largest} <More />
      </Notice>
    </div>
  )
}

/** The file that takes the most documents; empty where none takes several. */
function useLargest(library: Library): string {
  const { t } = useI18n()
  const sources = itemsOf(library).filter((item) => item.kind === 'source')
  const [largest] = sources.toSorted((a, b) => b.parts.length - a.parts.length)
  if (!largest || largest.parts.length < 2) return ''
  return t('kb.room.largest', { title: titleOf(largest), count: largest.parts.length })
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
