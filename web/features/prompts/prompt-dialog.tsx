import { type FormEvent, useState } from 'react'
import { PROMPT_TEXT_CHARS_MAX, PROMPT_TITLE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { type Prompt, talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, TextField } from '../../ui/form.tsx'
import { FormEnd } from '../../ui/form-end.tsx'

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

function PromptForm({ prompt, onClose }: Omit<PromptDialogProps, 'open'>) {
  const { t } = useI18n()
  const [name, setName] = useState(prompt?.name ?? '')
  const [title, setTitle] = useState(prompt?.title ?? '')
  const [text, setText] = useState(prompt?.text ?? '')
  const save = useAction(
    () => talks.savePrompt(prompt?.id ?? null, { name: name.trim(), title: title.trim(), text }),
    { done: 'prompts.saved', refresh: ['prompts'], onDone: onClose },
  )
  const count = [...text.trim()].length
  const isNamed = NAME.test(name.trim())
  const valid = isNamed && count > 0 && count <= PROMPT_TEXT_CHARS_MAX
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (valid) save.mutate(undefined)
  }
  return (
    <form className="grid gap-5" onSubmit={submit}>
      <TextField
        label={t('field.name')}
        hint={t('prompts.name.hint')}
        problem={name.trim() === '' || isNamed ? null : t('prompts.name.wrong')}
        value={name}
        maxLength={NAME_CHARS_MAX}
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
        onText={setText}
      />
      <FormEnd busy={save.isPending} disabled={!valid} onCancel={onClose} />
    </form>
  )
}
