import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { APP_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { App } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Changeable } from '../../ui/changeable.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form } from '../../ui/form-end.tsx'
import { Unsaved } from '../../ui/unsaved.tsx'
import { AppFields } from './app-fields.tsx'
import { type Draft, draftOf, inputOf, isNamed, isSame, isSound } from './draft.ts'
import { FaceFields } from './face-fields.tsx'
import { Preview } from './preview.tsx'
import { showApp } from './show-app.ts'

interface AppFormProps {
  /** Null creates a new app. */
  readonly app: App | null
  /** Whether the app was deleted meanwhile, and is made anew from what the form holds. */
  readonly isGone?: boolean
}

/**
 * Creates or replaces an app; an empty field is not overridden. What was not typed follows the app,
 * which a colleague may change meanwhile.
 */
export function AppForm({ app, isGone = false }: AppFormProps) {
  const { t } = useI18n()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState<Partial<Draft>>({})
  const draft = { ...draftOf(app), ...typed }
  const held = isGone ? null : app
  // Saving a new app leaves this page before the saved app is loaded.
  const saved = useRef(false)
  const change = (more: Partial<Draft>) => {
    saved.current = false
    setTyped((before) => ({ ...before, ...more }))
  }
  const save = useAction(
    async (now: Partial<Draft>) => {
      if (!held) return api.apps.create(inputOf({ ...draftOf(app), ...now }))
      // Read again, as a colleague may have changed since what was not typed here.
      const { apps } = await api.apps.list()
      const newest = apps.find(({ id }) => id === held.id) ?? held
      return api.apps.update(held.id, inputOf({ ...draftOf(newest), ...now }))
    },
    {
      done: 'apps.saved',
      refresh: ['apps'],
      onDone: (now) => {
        saved.current = true
        showApp(client, now)
        // More may have been typed while it was saved.
        setTyped((all) => (isSame({ ...draftOf(now), ...all }, draftOf(now)) ? {} : all))
        if (!held) void navigate({ to: '/app/apps/$id', params: { id: now.id } })
      },
    },
  )
  const all = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const isTwin = all.data?.apps.some(
    ({ id, name }) => id !== held?.id && name === draft.name.trim(),
  )
  const valid = isNamed(draft) && isSound(draft)
  const dirty = !isSame(draft, draftOf(held))
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_21rem]">
      <Form className="card grid gap-6 p-6" isWhole={valid} onSend={() => save.mutate(typed)}>
        <Changeable>
          <TextField
            label={t('field.name')}
            value={draft.name}
            maxLength={APP_NAME_CHARS_MAX}
            hint={isTwin && t('apps.name.twin')}
            autoFocus={held === null}
            required
            onText={(value) => change({ name: value })}
          />
          <FaceFields draft={draft} change={change} />
          <AppFields draft={draft} change={change} />
          <div className="flex justify-end border-t border-line pt-5">
            <Button
              type="submit"
              kind="primary"
              busy={save.isPending}
              idle={held !== null && !dirty}
            >
              {t(held ? 'action.save' : 'apps.create')}
            </Button>
          </div>
        </Changeable>
      </Form>
      <Preview input={inputOf(draft)} />
      <Unsaved isDirty={() => dirty && !saved.current} />
    </div>
  )
}
