import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { MODEL_CHARS_MAX, SYSTEM_PROMPT_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { AreaField, SelectField, SwitchField, TextField } from '../../ui/form.tsx'
import { CollectionPicker } from './collection-picker.tsx'
import { type Draft, temperatureOf } from './draft.ts'
import { ToolPicker } from './tool-picker.tsx'

interface PartProps {
  readonly draft: Draft
  readonly change: (more: Partial<Draft>) => void
}

/** The fields of an app; an empty one does not override the tenant's setting. */
export function AppFields({ draft, change }: PartProps) {
  const { t } = useI18n()
  return (
    <>
      <PromptPart draft={draft} change={change} />
      <ModelPart draft={draft} change={change} />
      <SwitchField
        label={t('apps.kb')}
        hint={t('apps.kb.hint')}
        on={draft.kb}
        onChange={(kb) => change({ kb })}
      />
      {draft.kb && (
        <CollectionPicker
          collections={draft.collections}
          onChange={(collections) => change({ collections })}
        />
      )}
      <SelectField
        label={t('memory.switch')}
        hint={t('memory.switch.hint')}
        value={draft.memory}
        choices={[
          { value: '', label: t('apps.inherit') },
          { value: 'off', label: t('state.off') },
          { value: 'app', label: t('memory.switch.app') },
          { value: 'tenant', label: t('memory.switch.tenant') },
        ]}
        onPick={(memory) => change({ memory: memory as Draft['memory'] })}
      />
      <SelectField
        label={t('settings.may-ask')}
        hint={t('settings.may-ask.hint')}
        value={draft.mayAsk}
        choices={[
          { value: '', label: t('apps.inherit') },
          { value: 'on', label: t('state.on') },
          { value: 'off', label: t('state.off') },
        ]}
        onPick={(mayAsk) => change({ mayAsk: mayAsk as Draft['mayAsk'] })}
      />
      <ToolPicker tools={draft.tools} onChange={(tools) => change({ tools })} />
    </>
  )
}

function PromptPart({ draft, change }: PartProps) {
  const { t } = useI18n()
  const personas = useQuery({ queryKey: ['personas'], queryFn: api.personas.list })
  const list = personas.data?.personas ?? []
  const isUnlisted = draft.personaId !== '' && !list.some(({ id }) => id === draft.personaId)
  // While the list is not there, nothing is known to be gone.
  const unlisted = personas.data ? t('apps.persona.gone') : '…'
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
          ...(isUnlisted ? [{ value: draft.personaId, label: unlisted }] : []),
          ...list.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onPick={(personaId) => change({ personaId })}
      />
    </>
  )
}

function ModelPart({ draft, change }: PartProps) {
  const { t } = useI18n()
  const list = useId()
  // When the channel cannot be asked, the model is typed.
  const models = useQuery({ queryKey: ['models'], queryFn: api.models, retry: false })
  const wrong = temperatureOf(draft.temperature) === 'wrong'
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-5">
      <datalist id={list}>
        {(models.data?.models ?? []).map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      <TextField
        label={t('field.model')}
        list={list}
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
      <SelectField
        label={t('settings.reminders')}
        value={draft.reminders}
        choices={[
          { value: '', label: t('apps.inherit') },
          { value: 'on', label: t('state.on') },
          { value: 'off', label: t('state.off') },
        ]}
        onPick={(reminders) => change({ reminders: reminders as Draft['reminders'] })}
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
