import { ListChecks, RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { NO_COLLECTION, useCollections } from './collections.ts'
import { type Item, idOf, readableOf } from './library.ts'

/** Items that are selected to be moved, read again or deleted together. */
export function useSelection(items: readonly Item[]) {
  /** Null while selection is off. */
  const [ids, setIds] = useState<ReadonlySet<string> | null>(null)
  return {
    isOn: ids !== null,
    chosen: items.filter((item) => ids?.has(idOf(item))),
    has: (item: Item) => ids?.has(idOf(item)) === true,
    start: () => setIds(new Set()),
    end: () => setIds(null),
    toggle(item: Item) {
      const next = new Set(ids)
      if (!next.delete(idOf(item))) next.add(idOf(item))
      setIds(next)
    },
    choose: (chosen: readonly Item[]) => setIds(new Set(chosen.map(idOf))),
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
  readonly items: readonly Item[]
  readonly selection: Selection
  /** Whether several are being worked on, which is one thing at a time. */
  readonly isBusy: boolean
  readonly onDelete: (chosen: readonly Item[]) => void
  readonly onMove: (chosen: readonly Item[], to: string) => void
  readonly onCheck: (chosen: readonly Item[]) => void
}

/** The bar above the list: starts the selection and shows how many items are selected. */
export function SelectionBar(props: SelectionBarProps) {
  const { items, selection, isBusy, onDelete, onMove, onCheck } = props
  const { t } = useI18n()
  const { isOn, chosen, start, end, choose } = selection
  const icon = { size: 15, 'aria-hidden': true } as const
  const isAll = chosen.length === items.length
  const readable = chosen.filter((item) => readableOf(item) !== null)
  return (
    <ForEditors>
      <div className="flex flex-wrap items-center justify-end gap-2 border-b border-line px-4 py-2">
        {isOn ? (
          <>
            <label className="target mr-auto inline-flex items-center gap-3">
              <input
                type="checkbox"
                aria-label={t('kb.select.all')}
                checked={isAll}
                onChange={() => choose(isAll ? [] : items)}
              />
              <span role="status">
                {t('kb.chosen', { count: chosen.length, all: items.length })}
              </span>
            </label>
            <MoveTo isOff={isBusy || chosen.length === 0} onMove={(to) => onMove(chosen, to)} />
            {readable.length > 0 && (
              <Button
                size="small"
                icon={<RotateCw {...icon} />}
                disabled={isBusy}
                onClick={() => onCheck(readable)}
              >
                {t('kb.check.several', { count: readable.length })}
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
