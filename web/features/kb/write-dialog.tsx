import { useState } from 'react'
import { KB_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { useSettled } from '../../lib/use-settled.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { chosenOf, titleOf } from './library.ts'
import { useTwin } from './twin.ts'

interface WriteProps {
  readonly open: boolean
  readonly kilobytesMax: number
  /** The collection that the document goes into; null: none. */
  readonly collection: string | null
  readonly onAdded: () => void
  readonly onClose: () => void
}

/** A dialog to paste or write a document. */
export function WriteDialog({ open, kilobytesMax, collection, onAdded, onClose }: WriteProps) {
  const { t } = useI18n()
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const save = useAction(() => api.kb.create(title.trim(), text, collection), {
    done: 'kb.saved',
    refresh: ['kb'],
    onDone: () => {
      setTitle('')
      setText('')
      onAdded()
      onClose()
    },
  })
  const kilobytes = new TextEncoder().encode(text).length / 1024
  const large = kilobytes > kilobytesMax
  const twin = useTwin({ title: useSettled(open ? title.trim() : '') })
  const isSame = twin !== null && chosenOf(twin).char_count === [...text.trim()].length
  const valid = title.trim() !== '' && text.trim() !== '' && !large
  return (
    <Dialog title={t('kb.write')} open={open} onClose={onClose} wide>
      <Form className="grid gap-4" isWhole={valid} onSend={() => save.mutate(undefined)}>
        <TextField
          label={t('kb.title')}
          value={title}
          maxLength={KB_TITLE_CHARS_MAX}
          required
          hint={twin && t(isSame ? 'kb.twin.text' : 'kb.twin.title', { title: titleOf(twin) })}
          onText={setTitle}
        />
        <Field
          label={t('kb.text')}
          problem={large ? t('kb.text.large', { max: kilobytesMax }) : null}
          required
          value={text}
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
        <FormEnd busy={save.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
