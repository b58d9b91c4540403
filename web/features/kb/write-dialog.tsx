import { type FormEvent, useState } from 'react'
import { KB_DOC_BYTES_MAX, KB_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextField } from '../../ui/form.tsx'

interface WriteProps {
  readonly open: boolean
  readonly onClose: () => void
}

/** A dialog to paste or write a document. */
export function WriteDialog({ open, onClose }: WriteProps) {
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
  const large = kilobytes * 1024 > KB_DOC_BYTES_MAX
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
          onText={setTitle}
        />
        <Field
          label={t('kb.text')}
          problem={large ? t('kb.upload.large') : null}
          aside={`${kilobytes.toFixed(1)} / ${KB_DOC_BYTES_MAX / 1024} KB`}
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
