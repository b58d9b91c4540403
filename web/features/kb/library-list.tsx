import { useQueryClient } from '@tanstack/react-query'
import { BookText } from 'lucide-react'
import { useRef, useState } from 'react'
import { api } from '../../api/index.ts'
import type { ChosenItem, KbLimits } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Empty } from '../../ui/state.tsx'
import { useBulkStart } from './bulk.ts'
import { BulkBar } from './bulk-bar.tsx'
import { collectionOf, moveTo, useMove } from './collections.ts'
import { Deletion } from './deletion.tsx'
import { FileInput, useFileInput } from './file-input.tsx'
import type { ItemActions } from './item-menu.tsx'
import { ItemRow } from './item-row.tsx'
import { chosenOf, idOf, isChecked, type Library, putSource, remove } from './library.ts'
import { FILTERED_FROM, ListFilters } from './list-filters.tsx'
import { Pager } from './pager.tsx'
import { RenameDialog } from './rename-dialog.tsx'
import { replacedBy } from './replacing.ts'
import { SelectionBar, useSelection } from './selection.tsx'
import { UploadRow } from './upload-row.tsx'
import { type AddOptions, inPlaceOf, type Uploads } from './uploads.ts'
import type { View } from './view.ts'

/** `checkedAt` is undefined when the check could not be started. */
type OnCheck = (id: string, checkedAt: string | null | undefined) => void

interface LibraryListProps {
  readonly library: Library
  readonly limits: KbLimits | undefined
  readonly view: View
  readonly onShow: (more: Partial<View>) => void
  /** Whether another page than this one is asked for. */
  readonly isOld: boolean
  readonly uploads: Uploads
  /** Pages that are being checked, by id, with the time of their previous check. */
  readonly checks: ReadonlyMap<string, string | null | undefined>
  readonly onCheck: OnCheck
}

/** Uploads, then a page of items. */
export function LibraryList(props: LibraryListProps) {
  const { library, limits, view, onShow, isOld, uploads, checks, onCheck } = props
  const { t } = useI18n()
  const client = useQueryClient()
  const [asked, setAsked] = useState<readonly ChosenItem[]>([])
  const [renamed, setRenamed] = useState<ChosenItem | null>(null)
  const input = useFileInput()
  const meant = useRef<AddOptions>({})
  const { items } = library
  const move = useMove()
  const selection = useSelection(items)
  const bulk = useBulkStart()
  const refresh = useAction(api.sources.setRefresh, {
    done: 'kb.refresh.saved',
    refresh: ['kb'],
    several: true,
    onDone: (source) => putSource(client, source),
  })
  const checkOne = useCheckOne(library, onCheck)
  const check = useAction(checkOne, { refresh: ['kb'], several: true })
  const choose = (options: AddOptions) => {
    meant.current = options
    input.open()
  }
  const actions: ItemActions = {
    onDelete: (item) => setAsked([chosenOf(item)]),
    onRename: (item) => setRenamed(chosenOf(item)),
    onReplace: (item) => choose(inPlaceOf(item)),
    onSendAgain(item) {
      if (item.kind === 'doc') return
      const { source } = item
      const collection = collectionOf(item)
      const options = { instead: source.id, replaces: replacedBy(source.id), collection }
      const file = uploads.fileOf(source.id)
      if (file) uploads.add([file], options)
      else choose(options)
    },
    onCheck: ({ id }) => check.mutate(id),
    onMove: (item, to) => move.mutate({ item: chosenOf(item), to }),
    onRefresh: ({ id }, value) => refresh.mutate({ id, refresh: value }),
  }
  return (
    <>
      {(library.entries >= FILTERED_FROM || view.q !== '' || view.state !== '') && (
        <ListFilters view={view} onShow={onShow} />
      )}
      {items.length + uploads.uploads.length === 0 && <Nothing view={view} library={library} />}
      {(items.length > 1 || selection.isOn) && (
        <SelectionBar
          library={library}
          view={view}
          selection={selection}
          isBusy={bulk.isBusy}
          onDelete={setAsked}
          onMove={(chosen, to) => bulk.start('move', chosen, (item) => moveTo(item, to))}
          onCheck={(readable) => {
            selection.end()
            void bulk.start('check', readable, ({ id }) => checkOne(id))
          }}
        />
      )}
      <BulkBar />
      <ul className="divide-y divide-line" aria-busy={isOld}>
        {uploads.uploads.map((upload) => (
          <UploadRow
            key={upload.id}
            upload={upload}
            uploads={uploads}
            megabytesMax={limits?.file_mb_max ?? 0}
          />
        ))}
        {items.map((item) => (
          <ItemRow
            key={idOf(item)}
            item={item}
            actions={actions}
            selection={selection}
            isChecked={item.kind === 'source' && isChecked(checks, item.source)}
          />
        ))}
      </ul>
      <Pager
        page={view.page}
        shown={items.length}
        matching={library.matching}
        onPage={(page) => onShow({ page })}
      />
      <FileInput
        {...input}
        label={t('kb.replace')}
        onFiles={(files) => uploads.add(files, meant.current)}
      />
      <RenameDialog item={renamed} onClose={() => setRenamed(null)} />
      <Deletion
        items={asked}
        onSeveral={(several) => {
          selection.end()
          void bulk.start('delete', several, remove)
        }}
        onDone={selection.end}
        onClose={() => setAsked([])}
      />
    </>
  )
}

/** Why no item is listed. */
function Nothing({ view, library }: Pick<LibraryListProps, 'view' | 'library'>) {
  const { t } = useI18n()
  if (library.entries === 0) {
    return <Empty icon={<BookText />} title={t('kb.empty')} text={t('kb.empty.text')} />
  }
  const isFiltered = view.q !== '' || view.state !== ''
  return (
    <Empty
      icon={<BookText />}
      title={t(isFiltered ? 'kb.filter.nothing' : 'kb.collections.empty')}
      text={t(isFiltered ? 'kb.filter.nothing.text' : 'kb.collections.empty.text')}
    />
  )
}

/** Asks for a check, and marks the page until its list has a later one. */
function useCheckOne(library: Library, onCheck: OnCheck) {
  const client = useQueryClient()
  return async (id: string) => {
    const item = library.items.find((one) => idOf(one) === id)
    // A file that is read again has no such time: its state tells how far it is.
    if (item?.kind === 'source' && item.source.kind === 'url') onCheck(id, item.source.checked_at)
    try {
      putSource(client, await api.sources.check(id))
    } catch (error) {
      onCheck(id, undefined)
      throw error
    }
  }
}
