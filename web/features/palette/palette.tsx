import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from 'react'
import { api } from '../../api/index.ts'
import { libraryApi } from '../../api/library.ts'
import { useI18n } from '../../i18n/index.tsx'
import { isComposing } from '../../lib/composing.ts'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Drawer } from '../../ui/dialog.tsx'
import { useShownTitle } from '../sessions/shown-title.ts'
import { searchOf } from '../studio/known.ts'
import { plainText } from '../studio/spoken.ts'
import { useEntries } from './entries.ts'
import { type Entry, type Group, matching } from './match.ts'

/** Conversations listed. */
const SHOWN = 8

interface PaletteProps {
  readonly open: boolean
  readonly onClose: () => void
}

/** Finds every page, item and action by a few letters. */
export function Palette({ open, onClose }: PaletteProps) {
  const { t } = useI18n()
  return (
    <Drawer title={t('palette.title')} open={open} onClose={onClose} look="palette">
      <Finder onClose={onClose} />
    </Drawer>
  )
}

function Finder({ onClose }: { readonly onClose: () => void }) {
  const { t } = useI18n()
  const list = useId()
  const [query, setQuery] = useState('')
  const [at, setAt] = useState(0)
  const found = matching([...useEntries(), useDocuments(query), useConversations(query)], query)
  const flat = found.flatMap(({ entries }) => entries)
  const chosen = flat[Math.min(at, flat.length - 1)]
  const pick = ({ run }: Entry) => {
    onClose()
    run()
  }
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((at + step + flat.length) % Math.max(1, flat.length))
    else if (event.key === 'Enter' && !isComposing(event.nativeEvent) && chosen) pick(chosen)
    else return
    event.preventDefault()
  }
  return (
    <>
      <div className="flex items-center gap-3 border-b border-line px-4">
        <Search size={17} className="flex-none text-ink-3" aria-hidden />
        <input
          className="h-13 w-full bg-transparent focus-visible:shadow-none"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={chosen && `${list}-${chosen.id}`}
          aria-label={t('palette.title')}
          placeholder={t('palette.hint')}
          value={query}
          onChange={(event) => {
            setQuery(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKey}
        />
      </div>
      <div id={list} role="listbox" aria-label={t('palette.title')} className="palette-list">
        {withIndexKeys(found).map(({ key, item: group }) => (
          // Not by their names, which are all empty until their words have come.
          <Choices key={key} group={group} list={list} chosen={chosen} onPick={pick} />
        ))}
      </div>
      {flat.length === 0 && <p className="px-4 py-6 text-ink-2">{t('palette.none')}</p>}
      <p className="sr-only" role="status">
        {t('palette.found', { count: flat.length })}
      </p>
    </>
  )
}

interface ChoicesProps {
  readonly group: Group
  readonly list: string
  readonly chosen: Entry | undefined
  readonly onPick: (entry: Entry) => void
}

function Choices({ group: { name, entries }, list, chosen, onPick }: ChoicesProps) {
  const title = useId()
  useEffect(() => {
    if (chosen && entries.includes(chosen)) {
      document.getElementById(`${list}-${chosen.id}`)?.scrollIntoView({ block: 'nearest' })
    }
  }, [chosen, entries, list])
  return (
    <fieldset className="min-w-0" aria-labelledby={title}>
      <p id={title} className="menu-label">
        {name}
      </p>
      {entries.map((entry) => (
        <button
          key={entry.id}
          id={`${list}-${entry.id}`}
          type="button"
          role="option"
          tabIndex={-1}
          aria-selected={entry === chosen}
          className="menu-item w-full"
          data-highlighted={entry === chosen || undefined}
          onClick={() => onPick(entry)}
        >
          <span className="min-w-0 text-left">
            <span className="block truncate">{entry.label}</span>
            {entry.text && (
              <span className="block truncate text-small text-ink-3">{entry.text}</span>
            )}
          </span>
        </button>
      ))}
    </fieldset>
  )
}

/** The latest conversations, or those that the query finds. */
function useConversations(query: string): Group {
  const { t } = useI18n()
  const shownTitle = useShownTitle()
  const goTo = useNavigate()
  const q = useDeferredValue(query.trim())
  const found = useQuery({
    queryKey: ['conversations', 'palette', q],
    queryFn: () => api.conversations.list(q === '' ? { limit: SHOWN } : { q, limit: SHOWN }),
    placeholderData: keepPreviousData,
  })
  const entries = found.data?.conversations.map((conversation) => {
    const label = shownTitle(conversation.title)
    const text = conversation.match && plainText(conversation.match.excerpt)
    return {
      id: `session-${conversation.id}`,
      label,
      // The title of a young talk is what was asked first.
      ...(!text || text === label ? {} : { text }),
      // The server found it in the texts of turns, so the local filter must accept it.
      also: q,
      run: () => void goTo({ to: '/app', search: searchOf(conversation) }),
    }
  })
  return { name: t('nav.sessions'), entries: entries ?? [] }
}

/** The newest files, pages and documents, or those that the query names. */
function useDocuments(query: string): Group {
  const { t } = useI18n()
  const goTo = useNavigate()
  const q = useDeferredValue(query.trim())
  const found = useQuery({
    queryKey: ['kb', 'palette', q],
    queryFn: () => libraryApi.page({ q, limit: String(SHOWN) }),
    placeholderData: keepPreviousData,
  })
  const entries = found.data?.items.flatMap(({ source, doc }) => {
    const id = source ? source.doc_id : (doc?.id ?? null)
    const label = source?.title ?? doc?.title ?? ''
    // The server has looked for the words, in its own way.
    return id === null
      ? []
      : [{ id, label, also: q, run: () => void goTo({ to: `/app/kb/${id}` }) }]
  })
  return { name: t('kb.docs'), entries: entries ?? [] }
}
