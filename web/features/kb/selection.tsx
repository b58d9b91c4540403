import { useMutation } from '@tanstack/react-query'
import { ListChecks, RotateCw, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { libraryApi } from '../../api/library.ts'
import type { ChosenItem } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { NO_COLLECTION, useCollections } from './collections.ts'
import { chosenOf, filtersOf, type Item, idOf, type Library } from './library.ts'
import type { View } from './view.ts'

type Chosen = ReadonlyMap<string, ChosenItem>

/** Entries that are selected on any page, to be moved, read again or deleted together. */
export function useSelection(items: readonly Item[]) {
  /** Null while selection is off. */
  const [entries, setEntries] = useState<Chosen | null>(null)
  const here = new Map(items.map((item) => [idOf(item), chosenOf(item)]))
  const put = (more: readonly ChosenItem[]) =>
    setEntries(
      (before) => new Map([...(before ?? []), ...more.map((one) => [one.id, one] as const)]),
    )
  return {
    isOn: entries !== null,
    /** As they are shown now, where they are. */
    chosen: [...(entries?.values() ?? [])].map((one) => here.get(one.id) ?? one),
    has: (item: Item) => entries?.has(idOf(item)) === true,
    start: () => setEntries(new Map()),
    end: () => setEntries(null),
    clear: () => setEntries(new Map()),
    put,
    toggle(item: Item) {
      const next = new Map(entries)
      if (!next.delete(idOf(item))) next.set(idOf(item), chosenOf(item))
      setEntries(next)
    },
    /** Adds the entries of this page, or takes them away. */
    togglePage(isOn: boolean) {
      if (isOn) return put([...here.values()])
      setEntries((before) => new Map([...(before ?? [])].filter(([id]) => !here.has(id))))
    },
  }
}

export type Selection = ReturnType<typeof useSelection>

interface MoveToProps {
  readonly isOff: boolean
  readonly onMove: (to: string) => void
}

/** Moves what is selected to a collection, where there are any. */
function MoveTo({ isOff, onMove }: MoveToProps) {
  const { t } = useI18n()
  const collections = useCollections()
  const [to, setTo] = useState('')
  if (collections.length === 0) return null
  return (
    <div className="flex max-w-full items-center gap-2">
      <select
        className="input w-auto min-w-0"
        aria-label={t('kb.collections.move')}
        disabled={isOff}
        value={to}
        onChange={(event) => setTo(event.target.value)}
      >
        <option value="">{t('kb.collections.move')}</option>
        <option value={NO_COLLECTION}>{t('kb.collections.none')}</option>
        {collections.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <Button size="small" disabled={isOff || to === ''} onClick={() => onMove(to)}>
        {t('kb.collections.go')}
      </Button>
    </div>
  )
}

interface SelectionBarProps {
  readonly library: Library
  readonly view: View
  readonly selection: Selection
  /** Whether several are being worked on, which is one thing at a time. */
  readonly isBusy: boolean
  readonly onDelete: (chosen: readonly ChosenItem[]) => void
  readonly onMove: (chosen: readonly ChosenItem[], to: string) => void
  readonly onCheck: (chosen: readonly ChosenItem[]) => void
}

/** The bar above the list: starts the selection and shows how many items are selected. */
export function SelectionBar(props: SelectionBarProps) {
  const { library, selection, isBusy, onDelete, onMove, onCheck } = props
  const { t, locale } = useI18n()
  const { isOn, chosen, start, end } = selection
  const icon = { size: 15, 'aria-hidden': true } as const
  const number = (count: number) => count.toLocaleString(locale)
  const readable = chosen.filter((item) => item.readable)
  const isPage = library.items.length > 0 && library.items.every(selection.has)
  const isPaged = library.matching > library.items.length
  const bar = useBar(isOn)
  return (
    <ForEditors>
      <div
        ref={bar}
        className="flex flex-wrap items-center justify-end gap-2 border-b border-line px-4 py-2"
      >
        {isOn ? (
          <>
            <label className="target mr-auto inline-flex items-center gap-3">
              <input
                type="checkbox"
                aria-label={t(isPaged ? 'kb.select.page' : 'kb.select.all')}
                checked={isPage}
                onChange={() => selection.togglePage(!isPage)}
              />
              <span role="status">
                {t('kb.chosen', { count: number(chosen.length), all: number(library.entries) })}
              </span>
            </label>
            {isPaged && <AllMatching {...props} />}
            <MoveTo isOff={isBusy || chosen.length === 0} onMove={(to) => onMove(chosen, to)} />
            {readable.length > 0 && (
              <Button
                size="small"
                icon={<RotateCw {...icon} />}
                disabled={isBusy}
                onClick={() => onCheck(readable)}
              >
                {t('kb.check.several', { count: number(readable.length) })}
              </Button>
            )}
            <Button size="small" onClick={end}>
              {t('action.cancel')}
            </Button>
            <Button
              size="small"
              kind="danger"
              icon={<Trash2 {...icon} />}
              disabled={isBusy || chosen.length === 0}
              onClick={() => onDelete(chosen)}
            >
              {t('action.delete')}
            </Button>
          </>
        ) : (
          <Button kind="quiet" size="small" icon={<ListChecks {...icon} />} onClick={start}>
            {t('kb.select')}
          </Button>
        )}
      </div>
    </ForEditors>
  )
}

/** The bar; the focus stays in it when its buttons become others. */
function useBar(isOn: boolean) {
  const bar = useRef<HTMLDivElement>(null)
  const was = useRef(isOn)
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (was.current !== isOn && isLost) bar.current?.querySelector<HTMLElement>(FIRST)?.focus()
    was.current = isOn
  }, [isOn])
  return bar
}

const FIRST = 'input, button'

/** Chooses what the filters fit on all pages, as it is when the button is pressed. */
function AllMatching({ library, view, selection }: SelectionBarProps) {
  const { t, locale } = useI18n()
  const all = useMutation({
    mutationFn: () => libraryApi.chosen(filtersOf(view)),
    onSuccess: ({ items }) => selection.put(items),
  })
  const count = library.matching.toLocaleString(locale)
  return (
    <>
      <Button size="small" busy={all.isPending} onClick={() => all.mutate()}>
        {t('kb.select.matching', { count })}
      </Button>
      {selection.chosen.length > 0 && (
        <Button size="small" kind="quiet" onClick={selection.clear}>
          {t('kb.select.none')}
        </Button>
      )}
    </>
  )
}
