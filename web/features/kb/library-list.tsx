import { useQueryClient } from '@tanstack/react-query'
import { BookText } from 'lucide-react'
import { useRef, useState } from 'react'
import { api } from '../../api/index.ts'
import type { Source } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Empty } from '../../ui/state.tsx'
import { useBulk } from './bulk.ts'
import { BulkBar } from './bulk-bar.tsx'
import { collectionOf, moveTo, useMove } from './collections.ts'
import { Deletion } from './deletion.tsx'
import { FileInput, useFileInput } from './file-input.tsx'
import type { ItemActions } from './item-menu.tsx'
import { ItemRow } from './item-row.tsx'
import { type Item, idOf, itemsOf, type Library, putSource, readableOf, remove } from './library.ts'
import { RenameDialog } from './rename-dialog.tsx'
import { replacedBy } from './replacing.ts'
import { SelectionBar, useSelection } from './selection.tsx'
import { UploadRow } from './upload-row.tsx'
import type { AddOptions, Uploads } from './uploads.ts'

/** `checkedAt` is undefined when the check could not be started. */
type OnCheck = (id: string, checkedAt: string | null | undefined) => void

interface LibraryListProps {
  readonly library: Library
  /** The collection that is shown; null: all items. */
  readonly shown: string | null
  readonly uploads: Uploads
  /** Pages that are being checked, by id, with the time of their previous check. */
  readonly checks: ReadonlyMap<string, string | null | undefined>
  readonly onCheck: OnCheck
}

/** Uploads, then all items. */
export function LibraryList({ library, shown, uploads, checks, onCheck }: LibraryListProps) {
  const { t } = useI18n()
  const client = useQueryClient()
  const [asked, setAsked] = useState<readonly Item[]>([])
  const [renamed, setRenamed] = useState<Item | null>(null)
  const input = useFileInput()
  const meant = useRef<AddOptions>({})
  const items = itemsOf(library).filter((item) => shown === null || collectionOf(item) === shown)
  const move = useMove()
  const selection = useSelection(items)
  const bulk = useBulk()
  const refresh = useAction(api.sources.setRefresh, {
    done: 'kb.refresh.saved',
    refresh: ['kb'],
    several: true,
    onDone: (source) => putSource(client, source),
  })
  const checkOne = useCheckOne(onCheck)
  const check = useAction(checkOne, { refresh: ['kb'], several: true })
  const choose = (options: AddOptions) => {
    meant.current = options
    input.open()
  }
  const actions: ItemActions = {
    onDelete: (item) => setAsked([item]),
    onRename: setRenamed,
    onReplace: (item) => choose({ replaces: item }),
    onSendAgain(item) {
      if (item.kind === 'doc') return
      const { source } = item
      const options = { instead: source.id, replaces: replacedBy(source.id, items) }
      const file = uploads.fileOf(source)
      if (file) uploads.add([file], options)
      else choose(options)
    },
    onCheck: check.mutate,
    onMove: (item, to) => move.mutate({ item, to }),
    onRefresh: ({ id }, value) => refresh.mutate({ id, refresh: value }),
  }
  return (
    <>
      {items.length + uploads.uploads.length === 0 && (
        <Empty icon={<BookText />} title={t('kb.empty')} text={t('kb.empty.text')} />
      )}
      {items.length > 1 && (
        <SelectionBar
          items={items}
          selection={selection}
          isBusy={bulk.bulk !== null && bulk.bulk.state !== 'ended'}
          onDelete={setAsked}
          onMove={(chosen, to) => bulk.start('move', chosen, (item) => moveTo(item, to))}
          onCheck={(chosen) => {
            selection.end()
            const readable = chosen.filter((item) => readableOf(item) !== null)
            void bulk.start('check', readable, async (item) => {
              if (item.kind === 'source') await checkOne(item.source)
            })
          }}
        />
      )}
      <BulkBar acts={bulk} />
      <ul className="divide-y divide-line">
        {uploads.uploads.map((upload) => (
          <UploadRow
            key={upload.id}
            upload={upload}
            uploads={uploads}
            megabytesMax={library.limits.file_mb_max}
          />
        ))}
        {items.map((item) => (
          <ItemRow
            key={idOf(item)}
            item={item}
            actions={actions}
            selection={selection}
            isChecked={
              item.kind === 'source' && checks.get(item.source.id) === item.source.checked_at
            }
          />
        ))}
      </ul>
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

/** Asks for a check, and marks the page until its list has a later one. */
function useCheckOne(onCheck: OnCheck) {
  const client = useQueryClient()
  return async ({ id, kind, checked_at }: Source) => {
    // A file that is read again has no such time: its state tells how far it is.
    if (kind === 'url') onCheck(id, checked_at)
    try {
      putSource(client, await api.sources.check(id))
    } catch (error) {
      onCheck(id, undefined)
      throw error
    }
  }
}
