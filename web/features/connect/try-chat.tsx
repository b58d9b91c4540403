import { Play } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form.tsx'
import { Notice } from '../../ui/page.tsx'

interface TryProps {
  readonly model: string
  readonly issued: string | null
}

/** One chat completion with a key, as a program would ask for it. */
export function TryChat({ model, issued }: TryProps) {
  const { t, locale } = useI18n()
  const explain = useExplain()
  const [typed, setTyped] = useState('')
  const [question, setQuestion] = useState(t('curl.text'))
  const ask = useAction(api.completion, { shows: () => true, refresh: ['keys', 'usage'] })
  const key = typed.trim() || issued || ''
  const ready = key !== '' && question.trim() !== ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (ready) ask.mutate({ key, model, question: question.trim() })
  }
  const number = (value: number) => value.toLocaleString(locale)
  return (
    <form className="grid gap-4 border-t border-line pt-5" onSubmit={submit}>
      <h3 className="font-semibold">{t('connect.try')}</h3>
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <TextField
          label={t('connect.key')}
          hint={t('connect.try.key')}
          type="password"
          autoComplete="off"
          spellCheck={false}
          placeholder={issued ? t('connect.try.issued') : 'sk-mb-…'}
          value={typed}
          onText={setTyped}
        />
        <TextField label={t('connect.try.question')} value={question} onText={setQuestion} />
      </div>
      <div>
        <Button
          type="submit"
          kind="primary"
          icon={<Play size={15} aria-hidden />}
          busy={ask.isPending}
          disabled={!ready}
        >
          {t('connect.try.send')}
        </Button>
      </div>
      <div aria-live="polite">
        {ask.data && (
          <div className="grid gap-1.5">
            <p className="code" data-testid="try-answer">
              {ask.data.choices[0]?.message.content}
            </p>
            <p className="text-small text-ink-3">
              {t('connect.try.used', {
                model: ask.data.model,
                input: number(ask.data.usage.prompt_tokens),
                output: number(ask.data.usage.completion_tokens),
              })}
            </p>
          </div>
        )}
        {ask.isError && <Notice tone="bad">{explain(ask.error)}</Notice>}
      </div>
    </form>
  )
}
