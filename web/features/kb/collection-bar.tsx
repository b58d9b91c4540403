import { FolderPlus, Pencil, Trash2 } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { COLLECTION_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Collection } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form } from '../../ui/form-end.tsx'
import { NO_COLLECTION } from './collections.ts'

interface CollectionBarProps {
  readonly collections: readonly Collection[]
  /** Null: all documents are shown. */
  readonly shown: string | null
  readonly onShow: (id: string | null) => void
  /** An item was dropped onto a collection. */
  readonly onDrop: (itemId: string, to: string) => void
}

/** The kind of data that a dragged item carries. */
export const DRAGGED = 'application/x-moonbase-item'

interface Asked {
  readonly what: 'new' | 'rename' | 'delete'
  /** The collection that was shown then. */
  readonly of: string | null
}

/** Chips of the collections: they filter the list, and take items that are dropped onto them. */
export function CollectionBar({ collections, shown, onShow, onDrop }: CollectionBarProps) {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  // What was asked about one collection is not asked about another: it may be deleted elsewhere.
  const dialog = asked?.what === 'new' || asked?.of === shown ? asked?.what : null
  const setDialog = (what: Asked['what'] | null) => setAsked(what && { what, of: shown })
  const chosen = collections.find(({ id }) => id === shown)
  const icon = { size: 15, 'aria-hidden': true } as const
  const chips = [
    { id: null, label: t('kb.collections.all') },
    ...(collections.length > 0 ? [{ id: NO_COLLECTION, label: t('kb.collections.none') }] : []),
    ...collections.map(({ id, name, doc_count }) => ({ id, label: `${name} · ${doc_count}` })),
  ]
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      {collections.length > 0 &&
        chips.map(({ id, label }) => (
          <Button
            key={id ?? ''}
            size="small"
            className="btn-text"
            {...(shown === id ? { kind: 'primary' as const } : {})}
            aria-pressed={shown === id}
            onClick={() => onShow(id)}
            {...(id === null ? {} : dropsOnto(id, onDrop))}
          >
            {label}
          </Button>
        ))}
      <ForEditors>
        <Button
          size="small"
          kind="quiet"
          icon={<FolderPlus {...icon} />}
          onClick={() => setDialog('new')}
        >
          {t('kb.collections.add')}
        </Button>
        {chosen && (
          <Button
            size="small"
            kind="quiet"
            icon={<Pencil {...icon} />}
            onClick={() => setDialog('rename')}
          >
            {t('kb.collections.rename')}
          </Button>
        )}
        {chosen && (
          <Button
            size="small"
            kind="quiet"
            icon={<Trash2 {...icon} />}
            onClick={() => setDialog('delete')}
          >
            {t('kb.collections.delete')}
          </Button>
        )}
      </ForEditors>
      <NameDialog
        key={`${dialog} ${asked?.of}`}
        collection={dialog === 'rename' ? chosen : undefined}
        open={dialog === 'new' || (dialog === 'rename' && chosen !== undefined)}
        onClose={() => setDialog(null)}
      />
      {chosen && (
        <Removal
          collection={chosen}
          open={dialog === 'delete'}
          onDone={() => onShow(null)}
          onClose={() => setDialog(null)}
        />
      )}
    </div>
  )
}

const dropsOnto = (id: string, onDrop: CollectionBarProps['onDrop']) => ({
  onDragOver(event: DragEvent) {
    if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault()
  },
  onDrop(event: DragEvent) {
    const item = event.dataTransfer.getData(DRAGGED)
    if (item === '') return
    event.preventDefault()
    onDrop(item, id)
  },
})

interface NameDialogProps {
  /** Absent: a new one is made. */
  readonly collection: Collection | undefined
  readonly open: boolean
  readonly onClose: () => void
}

/** Names a new collection, or gives one another name. */
function NameDialog({ collection, open, onClose }: NameDialogProps) {
  const { t } = useI18n()
  const before = collection?.name ?? ''
  const [name, setName] = useState(before)
  const save = (to: string) =>
    collection
      ? api.collections.change(collection.id, { name: to, description: collection.description })
      : api.collections.create({ name: to })
  const saving = useAction(save, { refresh: ['kb'], onDone: onClose })
  return (
    <Dialog
      title={t(collection ? 'kb.collections.rename' : 'kb.collections.add')}
      open={open}
      onClose={onClose}
    >
      <Form
        className="grid gap-4"
        isWhole={name.trim() !== ''}
        onSend={() => (name.trim() === before ? onClose() : saving.mutate(name.trim()))}
      >
        <TextField
          label={t('field.name')}
          value={name}
          maxLength={COLLECTION_NAME_CHARS_MAX}
          autoFocus
          required
          onText={setName}
        />
        <div className="flex justify-end">
          <Button type="submit" kind="primary" busy={saving.isPending}>
            {t(collection ? 'action.save' : 'kb.collections.create')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

interface RemovalProps {
  readonly collection: Collection
  readonly open: boolean
  readonly onDone: () => void
  readonly onClose: () => void
}

/** Deletes the collection alone: its documents stay. */
function Removal({ collection, open, onDone, onClose }: RemovalProps) {
  const { t } = useI18n()
  const remove = useAction(api.collections.remove, {
    refresh: ['kb'],
    onDone() {
      onClose()
      onDone()
    },
    onGone: onClose,
  })
  return (
    <Confirm
      title={t('kb.collections.delete.title', { name: collection.name })}
      loss={t('kb.collections.delete.loss', { count: collection.doc_count })}
      action={t('action.delete')}
      open={open}
      busy={remove.isPending}
      onConfirm={() => remove.mutate(collection.id)}
      onClose={onClose}
    />
  )
}
