import { Search } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { useTyped } from '../../lib/use-typed.ts'
import { SORTS, STATES, type View } from './view.ts'

/** Fewer entries are seen at a glance. */
export const FILTERED_FROM = 10

interface ListFiltersProps {
  readonly view: View
  readonly onShow: (more: Partial<View>) => void
}

/** Looks for entries by their names, and says which are shown in which order. */
export function ListFilters({ view, onShow }: ListFiltersProps) {
  const { t } = useI18n()
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <NameFilter key={view.collection} q={view.q} onName={(q) => onShow({ q })} />
      <select
        className="input w-auto min-w-0"
        aria-label={t('kb.filter.state')}
        value={view.state}
        onChange={({ target }) => onShow({ state: STATES[target.selectedIndex] ?? '' })}
      >
        {STATES.map((state) => (
          <option key={state} value={state}>
            {t(state === '' ? 'kb.filter.every' : `kb.filter.${state}`)}
          </option>
        ))}
      </select>
      <select
        className="input w-auto min-w-0"
        aria-label={t('kb.sort')}
        value={view.sort}
        onChange={({ target }) => onShow({ sort: SORTS[target.selectedIndex] ?? 'newest' })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {t(`kb.sort.${sort}`)}
          </option>
        ))}
      </select>
    </div>
  )
}

interface NameFilterProps {
  readonly q: string
  readonly onName: (q: string) => void
}

/** Asks once the typing pauses. */
function NameFilter({ q, onName }: NameFilterProps) {
  const { t } = useI18n()
  const [text, setText] = useTyped(q, onName)
  return (
    <label className="relative min-w-0 flex-1 basis-full sm:basis-56">
      <Search
        size={15}
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-ink-3"
      />
      <input
        className="input pl-9"
        type="search"
        aria-label={t('kb.filter.name')}
        placeholder={t('kb.filter.name')}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
    </label>
  )
}
