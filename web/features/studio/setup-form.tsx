import { Link } from '@tanstack/react-router'
import { KeyRound, Mic } from 'lucide-react'
import { useState } from 'react'
import { APP_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Changeable, ForEditors } from '../../ui/changeable.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form } from '../../ui/form-end.tsx'
import { AppFields } from '../apps/app-fields.tsx'
import { isSound } from '../apps/draft.ts'
import type { Setup } from './use-setup.ts'

/** Prompt, model, tools and knowledge of the next question, tried before they are saved. */
export function SetupForm({ setup }: { readonly setup: Setup }) {
  const { t } = useI18n()
  const { app, draft, isChanged, change, discard, save } = setup
  const [name, setName] = useState('')
  const send = (form: HTMLFormElement) => {
    form.removeAttribute('data-typed')
    save.mutate(app?.name ?? name.trim())
  }
  const canSave = isSound(draft) && (app !== null || name.trim() !== '')
  return (
    <Form className="grid grid-cols-1 gap-5" isWhole={canSave} onSend={send}>
      <ForEditors>
        <p className="text-small text-ink-3">
          {t(isChanged ? 'studio.setup.changed' : 'studio.setup.about')}
        </p>
      </ForEditors>
      <Changeable>
        <AppFields draft={draft} change={change} />
      </Changeable>
      {isChanged && (
        <div className="grid gap-3 border-t border-line pt-4">
          {app === null && (
            <TextField
              label={t('studio.setup.name')}
              value={name}
              maxLength={APP_NAME_CHARS_MAX}
              required
              onText={setName}
            />
          )}
          <div className="flex flex-wrap gap-2">
            <Button type="submit" kind="primary" busy={save.isPending}>
              {app ? t('studio.setup.save', { name: app.name }) : t('apps.create')}
            </Button>
            <Button onClick={discard}>{t('unsaved.leave')}</Button>
          </div>
        </div>
      )}
      <Next app={app?.id ?? null} />
    </Form>
  )
}

/** Links from the tested setup to its keys and devices. */
function Next({ app }: { readonly app: string | null }) {
  const { t } = useI18n()
  const icon = { size: 15, 'aria-hidden': true } as const
  const key = (
    <>
      <KeyRound {...icon} />
      {t(app ? 'apps.keys.new' : 'keys.new')}
    </>
  )
  const link = { className: 'btn', 'data-size': 'small', search: { new: true } } as const
  return (
    <ForEditors>
      <nav className="flex flex-wrap gap-2 border-t border-line pt-4" aria-label={t('nav.connect')}>
        {app ? (
          <Link to="/app/apps/$id" params={{ id: app }} {...link}>
            {key}
          </Link>
        ) : (
          <Link to="/app/keys" {...link}>
            {key}
          </Link>
        )}
        <Link to="/app/devices" {...link}>
          <Mic {...icon} />
          {t('devices.new')}
        </Link>
      </nav>
    </ForEditors>
  )
}
