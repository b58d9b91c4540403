import { useState } from 'react'
import { PROMPT_TEXT_CHARS_MAX, PROMPT_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { type Prompt, talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { merged } from '../../lib/merged.ts'
import { useAction, useToasts } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { Notice } from '../../ui/page.tsx'

interface PromptDialogProps {
  /** Null makes a new one. */
  readonly prompt: Prompt | null
  readonly open: boolean
  readonly onClose: () => void
}

const NAME = /^[a-z0-9-]{1,40}$/
const NAME_CHARS_MAX = 40

export function PromptDialog({ prompt, open, onClose }: PromptDialogProps) {
  const { t } = useI18n()
  return (
    <Dialog title={t(prompt ? 'prompts.edit' : 'prompts.new')} open={open} onClose={onClose} wide>
      <PromptForm key={prompt?.id ?? 'new'} prompt={prompt} onClose={onClose} />
    </Dialog>
  )
}

const partsOf = ({ name, title, text }: Prompt) => ({ name, title, text })

function PromptForm({ prompt, onClose }: Omit<PromptDialogProps, 'open'>) {
  const { t } = useI18n()
  const toasts = useToasts()
  const [name, setName] = useState(prompt?.name ?? '')
  const [title, setTitle] = useState(prompt?.title ?? '')
  const [text, setText] = useState(prompt?.text ?? '')
  /** As the form was opened, or as a colleague has changed it since. */
  const [known, setKnown] = useState(prompt)
  const [isBeaten, setBeaten] = useState(false)
  const save = useAction(
    async () => {
      const typed = { name: name.trim(), title: title.trim(), text }
      const stored = known && (await talks.prompts()).find(({ id }) => id === known.id)
      if (!known || !stored) return talks.savePrompt(known?.id ?? null, typed).then(() => null)
      const { value, lost } = merged(partsOf(known), typed, partsOf(stored))
      if (lost.length > 0) return { stored, value }
      await talks.savePrompt(known.id, value)
      return null
    },
    {
      refresh: ['prompts'],
      onDone(newer) {
        if (!newer) {
          toasts.show('good', t('prompts.saved'))
          return onClose()
        }
        setKnown(newer.stored)
        setName(newer.value.name)
        setTitle(newer.value.title)
        setText(newer.value.text)
        setBeaten(true)
      },
    },
  )
  const count = [...text.trim()].length
  const isNamed = NAME.test(name.trim())
  const valid = isNamed && count > 0 && count <= PROMPT_TEXT_CHARS_MAX
  return (
    <Form isWhole={valid} onSend={() => save.mutate(undefined)}>
      <TextField
        label={t('field.name')}
        hint={t('prompts.name.hint')}
        problem={name.trim() === '' || isNamed ? null : t('prompts.name.wrong')}
        value={name}
        maxLength={NAME_CHARS_MAX}
        required
        onText={setName}
      />
      <TextField
        label={t('prompts.title')}
        value={title}
        maxLength={PROMPT_TITLE_CHARS_MAX}
        onText={setTitle}
      />
      <AreaField
        label={t('prompts.text')}
        hint={t('prompts.text.hint', { field: '{{field}}' })}
        value={text}
        charsMax={PROMPT_TEXT_CHARS_MAX}
        rows={9}
        required
        onText={setText}
      />
      <div role="alert" className="empty:hidden">
        {isBeaten && known && (
          <Notice tone="warn">
            <p>{t('prompts.newer')}</p>
            <p className="mt-2 line-clamp-6 whitespace-pre-wrap">{known.text}</p>
          </Notice>
        )}
      </div>
      <FormEnd
        action={t(isBeaten ? 'prompts.replace' : 'action.save')}
        busy={save.isPending}
        onCancel={onClose}
      />
    </Form>
  )
}
