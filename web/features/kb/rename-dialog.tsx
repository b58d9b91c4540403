import { useState } from 'react'
import { KB_TITLE_CHARS_MAX, SOURCE_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import type { ChosenItem } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { rename } from './library.ts'

interface RenameProps {
  /** Null: the dialog is closed. */
  readonly item: ChosenItem | null
  readonly onClose: () => void
}

/** A dialog to give a document, file or page another title. */
export function RenameDialog({ item, onClose }: RenameProps) {
  const { t } = useI18n()
  return (
    <Dialog
      title={t('kb.rename')}
      about={t('kb.rename.about')}
      open={item !== null}
      onClose={onClose}
    >
      {item && <RenameForm item={item} onClose={onClose} />}
    </Dialog>
  )
}

function RenameForm({
  item,
  onClose,
}: {
  readonly item: ChosenItem
  readonly onClose: () => void
}) {
  const { t } = useI18n()
  const [title, setTitle] = useState(item.title)
  const save = useAction((to: string) => rename(item, to), {
    done: 'kb.renamed',
    refresh: ['kb'],
    onDone: onClose,
  })
  const send = () => {
    if (title.trim() === item.title) onClose()
    else save.mutate(title.trim())
  }

  return (
    <Form className="grid gap-4" isWhole={title.trim() !== ''} onSend={send}>
      <TextField
        label={t('kb.title')}
        value={title}
        maxLength={item.kind === 'doc' ? KB_TITLE_CHARS_MAX : SOURCE_TITLE_CHARS_MAX}
        required
        onText={setTitle}
      />
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}
