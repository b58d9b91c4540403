import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import {
  APP_NAME_CHARS_MAX,
  MODEL_CHARS_MAX,
  SYSTEM_PROMPT_CHARS_MAX,
} from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { App, AppInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { AreaField, SelectField, SwitchField, TextField } from '../../ui/form.tsx'
import { Unsaved } from '../../ui/unsaved.tsx'
import { type Draft, draftOf, inputOf, temperatureOf } from './draft.ts'
import { Preview } from './preview.tsx'
import { ToolPicker } from './tool-picker.tsx'

interface PartProps {
  readonly draft: Draft
  readonly change: (more: Partial<Draft>) => void
}

/** Creates or replaces an app; an empty field is not overridden. */
export function AppForm({ app }: { readonly app: App | null }) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const [draft, setDraft] = useState(() => draftOf(app))
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
  const name = draft.name.trim()
  const valid =
    name !== '' &&
    [...name].length <= APP_NAME_CHARS_MAX &&
    [...draft.prompt.trim()].length <= SYSTEM_PROMPT_CHARS_MAX &&
    temperatureOf(draft.temperature) !== 'wrong'
  const dirty = JSON.stringify(inputOf(draft)) !== JSON.stringify(inputOf(draftOf(app)))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (valid) save.mutate(inputOf(draft))
  }
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_21rem]">
      <form className="card grid gap-6 p-6" onSubmit={submit}>
        <TextField
          label={t('field.name')}
          value={draft.name}
          maxLength={APP_NAME_CHARS_MAX}
          autoFocus={app === null}
          required
          onText={(value) => change({ name: value })}
        />
        <PromptPart draft={draft} change={change} />
        <ModelPart draft={draft} change={change} />
        <SwitchField
          label={t('apps.kb')}
          hint={t('apps.kb.hint')}
          on={draft.kb}
          onChange={(kb) => change({ kb })}
        />
        <ToolPicker tools={draft.tools} onChange={(tools) => change({ tools })} />
        <div className="flex justify-end border-t border-line pt-5">
          <Button type="submit" kind="primary" busy={save.isPending} disabled={!valid || !dirty}>
            {t(app ? 'action.save' : 'apps.create')}
          </Button>
        </div>
      </form>
      <Preview input={inputOf(draft)} />
      <Unsaved isDirty={() => dirty && !saved.current} />
    </div>
  )
}

function PromptPart({ draft, change }: PartProps) {
  const { t } = useI18n()
  const personas = useQuery({ queryKey: ['personas'], queryFn: api.personas.list })
  const list = personas.data?.personas ?? []
  const gone = draft.personaId !== '' && !list.some(({ id }) => id === draft.personaId)
  return (
    <>
      <AreaField
        label={t('apps.prompt')}
        hint={t('apps.prompt.hint')}
        value={draft.prompt}
        charsMax={SYSTEM_PROMPT_CHARS_MAX}
        rows={7}
        onText={(prompt) => change({ prompt })}
      />
      <SelectField
        label={t('apps.persona')}
        hint={t(draft.prompt.trim() ? 'apps.persona.beaten' : 'apps.persona.hint')}
        value={draft.personaId}
        choices={[
          { value: '', label: t('apps.inherit') },
          ...(gone ? [{ value: draft.personaId, label: t('apps.persona.gone') }] : []),
          ...list.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onPick={(personaId) => change({ personaId })}
      />
    </>
  )
}

function ModelPart({ draft, change }: PartProps) {
  const { t } = useI18n()
  const wrong = temperatureOf(draft.temperature) === 'wrong'
  return (
    <div className="grid gap-5 sm:grid-cols-3">
      <TextField
        label={t('field.model')}
        placeholder={t('apps.inherit')}
        value={draft.model}
        maxLength={MODEL_CHARS_MAX}
        onText={(model) => change({ model })}
      />
      <SelectField
        label={t('field.thinking')}
        value={draft.thinking}
        choices={[
          { value: '', label: t('apps.inherit') },
          { value: 'on', label: t('state.on') },
          { value: 'off', label: t('state.off') },
        ]}
        onPick={(thinking) => change({ thinking: thinking as Draft['thinking'] })}
      />
      <TextField
        label={t('field.temperature')}
        placeholder={t('apps.inherit')}
        problem={wrong ? t('field.temperature.wrong') : null}
        inputMode="decimal"
        value={draft.temperature}
        onText={(temperature) => change({ temperature })}
      />
    </div>
  )
}
