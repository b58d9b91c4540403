import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { APP_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { App, AppInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { reload } from '../../lib/reload.ts'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Changeable } from '../../ui/changeable.tsx'
import { TextField } from '../../ui/form.tsx'
import { Unsaved } from '../../ui/unsaved.tsx'
import { AppFields } from './app-fields.tsx'
import { type Draft, draftOf, inputOf, isNamed, isSame, isSound } from './draft.ts'
import { FaceFields } from './face-fields.tsx'
import { Preview } from './preview.tsx'

const MISSING = 404

interface AppFormProps {
  /** Null creates a new app. */
  readonly app: App | null
  /** What the form is filled with, where it is newer than the list of apps. */
  readonly filled?: App | null
}

/** Creates or replaces an app; an empty field is not overridden. */
export function AppForm({ app, filled = null }: AppFormProps) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() => draftOf(filled ?? app))
  // Saving a new app leaves this page before the saved app is loaded.
  const saved = useRef(false)
  const change = (more: Partial<Draft>) => {
    saved.current = false
    setDraft((before) => ({ ...before, ...more }))
  }
  const save = useAction(
    (input: AppInput) => (app ? api.apps.update(app.id, input) : api.apps.create(input)),
    {
      done: 'apps.saved',
      refresh: ['apps'],
      onDone: ({ id }) => {
        saved.current = true
        if (!app) void navigate({ to: '/app/apps/$id', params: { id } })
      },
    },
  )
  // Deleted elsewhere: the page says so once the list is there.
  const isGone = save.error instanceof ApiError && save.error.status === MISSING
  const client = useQueryClient()
  useEffect(() => {
    if (isGone) void reload(client, ['apps'])
  }, [isGone, client])
  const valid = isNamed(draft) && isSound(draft)
  const dirty = !isSame(draft, draftOf(app))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (valid) save.mutate(inputOf(draft))
  }
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_21rem]">
      <form className="card grid gap-6 p-6" onSubmit={submit}>
        <Changeable>
          <TextField
            label={t('field.name')}
            value={draft.name}
            maxLength={APP_NAME_CHARS_MAX}
            autoFocus={app === null}
            required
            onText={(value) => change({ name: value })}
          />
          <FaceFields draft={draft} change={change} />
          <AppFields draft={draft} change={change} />
          <div className="flex justify-end border-t border-line pt-5">
            <Button type="submit" kind="primary" busy={save.isPending} disabled={!valid || !dirty}>
              {t(app ? 'action.save' : 'apps.create')}
            </Button>
          </div>
        </Changeable>
      </form>
      <Preview input={inputOf(draft)} />
      <Unsaved isDirty={() => dirty && !saved.current} />
    </div>
  )
}
