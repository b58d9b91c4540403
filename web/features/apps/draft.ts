import {
  APP_NAME_CHARS_MAX,
  SYSTEM_PROMPT_CHARS_MAX,
  TEMPERATURE_MAX,
} from '../../../src/core/limits/contract.ts'
import type { App, AppInput } from '../../api/types.ts'

/** The values of the form, as typed. */
export interface Draft {
  readonly name: string
  readonly prompt: string
  readonly personaId: string
  readonly model: string
  readonly thinking: '' | 'on' | 'off'
  readonly temperature: string
  readonly kb: boolean
  /** Null: all tools. */
  readonly tools: readonly string[] | null
}

export const draftOf = (app: App | null): Draft => ({
  name: app?.name ?? '',
  prompt: app?.system_prompt ?? '',
  personaId: app?.persona_id ?? '',
  model: app?.model ?? '',
  thinking: app?.thinking == null ? '' : app.thinking ? 'on' : 'off',
  temperature: app?.temperature == null ? '' : String(app.temperature),
  kb: app?.kb_enabled ?? true,
  tools: app?.tools_enabled ?? null,
})

export function temperatureOf(text: string): number | null | 'wrong' {
  if (text.trim() === '') return null
  const value = Number(text)
  return value >= 0 && value <= TEMPERATURE_MAX ? value : 'wrong'
}

const orNull = (text: string) => text.trim() || null

export function inputOf(draft: Draft): AppInput {
  const temperature = temperatureOf(draft.temperature)
  return {
    name: draft.name.trim(),
    system_prompt: orNull(draft.prompt),
    persona_id: orNull(draft.personaId),
    model: orNull(draft.model),
    thinking: draft.thinking === '' ? null : draft.thinking === 'on',
    temperature: temperature === 'wrong' ? null : temperature,
    kb_enabled: draft.kb,
    tools_enabled: draft.tools === null ? null : [...draft.tools],
  }
}

export function isNamed({ name }: Draft): boolean {
  const length = [...name.trim()].length
  return length > 0 && length <= APP_NAME_CHARS_MAX
}

/** Whether the server accepts its fields. */
export const isSound = ({ prompt, temperature }: Draft): boolean =>
  [...prompt.trim()].length <= SYSTEM_PROMPT_CHARS_MAX && temperatureOf(temperature) !== 'wrong'

export const isSame = (one: Draft, other: Draft): boolean =>
  JSON.stringify(inputOf(one)) === JSON.stringify(inputOf(other))
