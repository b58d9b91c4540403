import { type FormEvent, useId, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'

const FOLDER_CHARS_MAX = 60

interface FolderDialogProps {
  readonly folder: string | null
  readonly folders: readonly string[]
  /** Called without a folder when nothing changes, with null when the talk leaves its folder. */
  readonly onEnd: (folder?: string | null) => void
}

/** Puts a talk into a folder, one that is there or a new one. */
export function FolderDialog({ folder, folders, onEnd }: FolderDialogProps) {
  const { t } = useI18n()
  const list = useId()
  const [name, setName] = useState(folder ?? '')
  const save = (event: FormEvent) => {
    event.preventDefault()
    onEnd(name.trim() || null)
  }
  return (
    <Dialog title={t('talks.file')} open onClose={() => onEnd()}>
      <form className="grid gap-4" onSubmit={save}>
        <input
          className="input"
          list={list}
          value={name}
          maxLength={FOLDER_CHARS_MAX}
          aria-label={t('talks.folder')}
          placeholder={t('talks.folder')}
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id={list}>
          {folders.map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        <div className="flex justify-end gap-2">
          {folder !== null && <Button onClick={() => onEnd(null)}>{t('talks.unfile')}</Button>}
          <Button type="submit" kind="primary">
            {t('talks.file')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
