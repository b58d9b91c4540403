import { useQueryClient } from '@tanstack/react-query'
import { BookText } from 'lucide-react'
import { useRef, useState } from 'react'
import { api } from '../../api/index.ts'
import type { Source } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Empty } from '../../ui/state.tsx'
import { FileInput, useFileInput } from './file-input.tsx'
import type { ItemActions } from './item-menu.tsx'
import { ItemRow } from './item-row.tsx'
import { type Item, idOf, itemsOf, type Library, remove, showSource, titleOf } from './library.ts'
import { replacedBy } from './replacing.ts'
import { UploadRow } from './upload-row.tsx'
import type { AddOptions, Uploads } from './uploads.ts'

/** Undefined: it is not checked after all. */
type OnCheck = (id: string, checkedAt: string | null | undefined) => void

interface LibraryListProps {
  readonly library: Library
  readonly uploads: Uploads
  /** Pages that are being checked, by id, with the time of the check before. */
  readonly checks: ReadonlyMap<string, string | null | undefined>
  readonly onCheck: OnCheck
}

/** Files on their way, then all that is there. */
export function LibraryList({ library, uploads, checks, onCheck }: LibraryListProps) {
  const { t } = useI18n()
  const client = useQueryClient()
  const [asked, setAsked] = useState<Item | null>(null)
  const input = useFileInput()
  const meant = useRef<AddOptions>({})
  const items = itemsOf(library)
  const refresh = useAction(api.sources.setRefresh, {
    done: 'kb.refresh.saved',
    several: true,
    onDone: (source) => showSource(client, source),
  })
  const check = useCheck(onCheck)
  const choose = (options: AddOptions) => {
    meant.current = options
    input.open()
  }
  const actions: ItemActions = {
    onDelete: setAsked,
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
    onRefresh: ({ id }, value) => refresh.mutate({ id, refresh: value }),
  }
  return (
    <>
      {items.length + uploads.uploads.length === 0 && (
        <Empty icon={<BookText />} title={t('kb.empty')} text={t('kb.empty.text')} />
      )}
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
      <Deletion item={asked} onClose={() => setAsked(null)} />
    </>
  )
}

/** Asks for a check, and marks the page until its list has a later one. */
function useCheck(onCheck: OnCheck) {
  const client = useQueryClient()
  const run = async ({ id, checked_at }: Source) => {
    onCheck(id, checked_at)
    try {
      return await api.sources.check(id)
    } catch (error) {
      onCheck(id, undefined)
      throw error
    }
  }
  return useAction(run, { several: true, onDone: (source) => showSource(client, source) })
}

interface DeletionProps {
  readonly item: Item | null
  readonly onClose: () => void
}

/** Says what goes with it before it is deleted. */
function Deletion({ item, onClose }: DeletionProps) {
  const { t, locale } = useI18n()
  const action = useAction(remove, { done: 'kb.deleted', refresh: ['kb'], onDone: onClose })
  // The documents that are here: the list may know of them before the source says that it is read.
  const parts = item?.kind === 'source' ? item.parts : null
  const chars = (parts ?? []).reduce((sum, { char_count }) => sum + char_count, 0)
  const loss =
    parts === null
      ? t('kb.delete.loss')
      : parts.length === 0
        ? t('kb.delete.loss.unread')
        : t('kb.delete.loss.source', {
            parts: parts.length,
            chars: chars.toLocaleString(locale),
          })
  return (
    <Confirm
      title={t('kb.delete.title', { title: item ? titleOf(item) : '' })}
      loss={loss}
      action={t('action.delete')}
      open={item !== null}
      busy={action.isPending}
      onConfirm={() => item && action.mutate(item)}
      onClose={onClose}
    />
  )
}
