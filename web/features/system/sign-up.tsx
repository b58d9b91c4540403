import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { Choices } from './choices.tsx'
import { Locked } from './locked.tsx'
import { useRefusal } from './wrong-value.ts'

type Who = 'closed' | 'some' | 'open'

const whoOf = (value: string): Who => (value === 'closed' || value === 'open' ? value : 'some')

const isRefusal = (error: Error) => error instanceof ApiError && error.status === 400

/** Who may sign up, as three choices. */
export function SignUp({ settings }: { readonly settings: readonly SystemSetting[] }) {
  const { t } = useI18n()
  const client = useQueryClient()
  const wordsOf = useRefusal()
  const setting = settings.find(({ name }) => name === 'MB_SIGNUP')
  const value = setting?.value ?? 'open'
  // What was not picked here follows the server, where mail or a colleague may have changed it.
  const [picked, setPicked] = useState<Who | null>(null)
  const [typed, setTyped] = useState<string | null>(null)
  const who = picked ?? whoOf(value)
  const names = typed ?? (whoOf(value) === 'some' ? value : '')
  const save = useAction((next: string) => api.system.save({ MB_SIGNUP: next }), {
    done: 'system.saved',
    refresh: ['system', 'status'],
    shows: (error) => who === 'some' && isRefusal(error),
    onDone: ({ settings: now }) => {
      client.setQueryData(
        ['system'],
        (shown: object | undefined) => shown && { ...shown, settings: now },
      )
      setPicked(null)
      setTyped(null)
    },
  })
  const wanted = who === 'some' ? names.trim() : who
  const locked = setting?.locked ?? true
  const isSaved = wanted === value && setting?.source !== 'default'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (wanted !== '') save.mutate(wanted)
  }
  return (
    <Section title={t('system.signup')} about={t('system.signup.about')}>
      <form className="card grid gap-5 p-5" onSubmit={submit}>
        <Choices
          label={t('system.signup')}
          value={who}
          choices={[
            { value: 'closed', label: t('signup.closed'), hint: t('signup.closed.hint') },
            { value: 'some', label: t('signup.some'), hint: t('signup.some.hint') },
            { value: 'open', label: t('signup.open'), hint: t('signup.open.hint') },
          ]}
          locked={locked}
          onPick={(next) => setPicked(next as Who)}
        />
        {who === 'some' && (
          <TextField
            label={t('signup.names')}
            problem={save.error && isRefusal(save.error) ? wordsOf(save.error) : null}
            placeholder="@example.com, ada@example.org"
            value={names}
            onText={setTyped}
          />
        )}
        <div className="flex justify-end">
          {locked ? (
            <Locked names={['MB_SIGNUP']} />
          ) : (
            <Button
              type="submit"
              kind="primary"
              busy={save.isPending}
              idle={isSaved || wanted === ''}
            >
              {t('action.save')}
            </Button>
          )}
        </div>
      </form>
    </Section>
  )
}
