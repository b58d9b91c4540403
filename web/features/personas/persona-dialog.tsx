import { useState } from 'react'
import {
  PERSONA_NAME_CHARS_MAX,
  PERSONA_PROMPT_CHARS_MAX,
} from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Persona } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { AreaField, SwitchField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'

interface PersonaDialogProps {
  /** Null creates a new persona. */
  readonly persona: Persona | null
  readonly open: boolean
  readonly onClose: () => void
}

export function PersonaDialog({ persona, open, onClose }: PersonaDialogProps) {
  const { t } = useI18n()
  const title = t(persona ? 'personas.edit' : 'personas.new')
  return (
    <Dialog title={title} open={open} onClose={onClose} wide>
      <PersonaForm key={persona?.id ?? 'new'} persona={persona} onClose={onClose} />
    </Dialog>
  )
}

function PersonaForm({ persona, onClose }: Omit<PersonaDialogProps, 'open'>) {
  const { t } = useI18n()
  const [name, setName] = useState(persona?.name ?? '')
  const [prompt, setPrompt] = useState(persona?.prompt ?? '')
  const [isDefault, setDefault] = useState(false)
  const save = useAction(
    () => {
      const input = { name: name.trim(), prompt: prompt.trim() }
      return persona
        ? api.personas.update(persona.id, input)
        : api.personas.create({ ...input, is_default: isDefault })
    },
    { done: 'personas.saved', refresh: ['personas'], onDone: onClose },
  )
  const count = [...prompt.trim()].length
  const valid = name.trim() !== '' && count > 0 && count <= PERSONA_PROMPT_CHARS_MAX
  return (
    <Form isWhole={valid} onSend={() => save.mutate(undefined)}>
      <TextField
        label={t('field.name')}
        value={name}
        maxLength={PERSONA_NAME_CHARS_MAX}
        required
        onText={setName}
      />
      <AreaField
        label={t('personas.prompt')}
        hint={t('personas.prompt.hint')}
        value={prompt}
        charsMax={PERSONA_PROMPT_CHARS_MAX}
        rows={9}
        required
        onText={setPrompt}
      />
      {!persona && (
        <SwitchField
          label={t('personas.default.set')}
          hint={t('personas.default.hint')}
          on={isDefault}
          onChange={setDefault}
        />
      )}
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}
