import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { PAGE_SIZE } from './library.ts'

interface PagerProps {
  readonly page: number
  readonly shown: number
  readonly matching: number
  readonly onPage: (page: number) => void
}

/** Which entries of how many are shown, and the way to the others. */
export function Pager({ page, shown, matching, onPage }: PagerProps) {
  const { t, locale } = useI18n()
  if (matching <= PAGE_SIZE) return null
  const pages = Math.ceil(matching / PAGE_SIZE)
  const number = (count: number) => count.toLocaleString(locale)
  const first = page * PAGE_SIZE
  const values = { from: number(first + 1), to: number(first + shown), all: number(matching) }
  return (
    <nav
      className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-4 py-2"
      aria-label={t('kb.pages')}
    >
      <span className="text-small text-ink-2" role="status">
        {t('kb.pages.shown', values)}
      </span>
      <span className="flex items-center gap-2">
        <Button
          size="small"
          icon={<ChevronLeft size={15} aria-hidden />}
          disabled={page === 0}
          onClick={() => onPage(page - 1)}
        >
          {t('kb.pages.before')}
        </Button>
        <select
          className="input w-auto"
          aria-label={t('kb.pages')}
          value={page}
          onChange={({ target }) => onPage(target.selectedIndex)}
        >
          {Array.from({ length: pages }, (_, at) => at).map((at) => (
            <option key={at} value={at}>
              {at + 1} / {pages}
            </option>
          ))}
        </select>
        <Button
          size="small"
          icon={<ChevronRight size={15} aria-hidden />}
          disabled={page >= pages - 1}
          onClick={() => onPage(page + 1)}
        >
          {t('kb.pages.after')}
        </Button>
      </span>
    </nav>
  )
}
