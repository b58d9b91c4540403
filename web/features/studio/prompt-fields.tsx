import { type FormEvent, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'

const FIELD = /\{\{([^{}:]+)\}\}/g

/** The names of the fields in a kept text, each once. */
export const fieldsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(FIELD)].map(([, name = '']) => name.trim())),
]

/** The text with values in place of its fields. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(FIELD, (field, name: string) => values[name.trim()] ?? field)

interface PromptFieldsProps {
  /** Null closes the dialog. */
  readonly text: string | null
  readonly onEnd: (text: string | null) => void
}

/** Asks for the values of the fields in a kept text. */
export function PromptFields({ text, onEnd }: PromptFieldsProps) {
  const { t } = useI18n()
  return (
    <Dialog title={t('studio.fields')} open={text !== null} onClose={() => onEnd(null)}>
      {text !== null && <Fields key={text} text={text} onEnd={onEnd} />}
    </Dialog>
  )
}

function Fields({
  text,
  onEnd,
}: {
  readonly text: string
  readonly onEnd: (text: string) => void
}) {
  const { t } = useI18n()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // It is a form inside that of the composer, which would send the question.
    event.stopPropagation()
    onEnd(filled(text, values))
  }
  return (
    <form className="grid gap-5" onSubmit={submit}>
      {fieldsIn(text).map((name) => (
        <TextField
          key={name}
          label={name}
          value={values[name] ?? ''}
          onText={(value) => setValues((before) => ({ ...before, [name]: value }))}
        />
      ))}
      <div className="flex justify-end">
        <Button type="submit" kind="primary">
          {t('studio.fields.insert')}
        </Button>
      </div>
    </form>
  )
}
