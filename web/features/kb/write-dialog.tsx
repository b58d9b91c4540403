import { type FormEvent, useState } from 'react'
import { KB_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextField } from '../../ui/form.tsx'
import type { Library } from './library.ts'

interface WriteProps {
  readonly open: boolean
  readonly library: Library | undefined
  readonly onClose: () => void
}

/** A dialog to paste or write a document. */
export function WriteDialog({ open, library, onClose }: WriteProps) {
  const { t } = useI18n()
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const save = useAction(() => api.kb.create(title.trim(), text), {
    done: 'kb.saved',
    refresh: ['kb'],
    onDone: () => {
      setTitle('')
      setText('')
      onClose()
    },
  })
  const kilobytes = new TextEncoder().encode(text).length / 1024
  const kilobytesMax = library?.limits.doc_kb_max ?? 100
  const large = kilobytes > kilobytesMax
  const twin = library?.docs.find((doc) => doc.title === title.trim())
  const isSame = twin?.char_count === [...text.trim()].length
  const valid = title.trim() !== '' && text.trim() !== '' && !large
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (valid) save.mutate(undefined)
  }
  return (
    <Dialog title={t('kb.write')} open={open} onClose={onClose} wide>
      <form className="grid gap-4" onSubmit={submit}>
        <TextField
          label={t('kb.title')}
          value={title}
          maxLength={KB_TITLE_CHARS_MAX}
          hint={twin && t(isSame ? 'kb.twin.text' : 'kb.twin.title', { title: twin.title })}
          onText={setTitle}
        />
        <Field
          label={t('kb.text')}
          problem={large ? t('kb.text.large', { max: kilobytesMax }) : null}
          aside={`${kilobytes.toFixed(1)} / ${kilobytesMax} KB`}
        >
          {(ids) => (
            <textarea
              {...ids}
              className="input"
              rows={12}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" kind="primary" busy={save.isPending} disabled={!valid}>
            {t('action.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
