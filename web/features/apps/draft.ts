import {
  APP_NAME_CHARS_MAX,
  APP_STARTER_CHARS_MAX,
  APP_STARTERS_MAX,
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
  /** Null: all documents. */
  readonly collections: readonly string[] | null
  readonly reminders: '' | 'on' | 'off'
  /** Which facts are remembered; empty: as the tenant says. */
  readonly memory: '' | 'off' | 'app' | 'tenant'
  readonly icon: string
  readonly description: string
  /** Whether the model may ask people back; empty: as the tenant says. */
  readonly mayAsk: '' | 'on' | 'off'
  readonly greeting: string
  /** One a field; blank ones are left out. */
  readonly starters: readonly string[]
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
  collections: app?.collections ?? null,
  reminders: app?.reminders == null ? '' : app.reminders ? 'on' : 'off',
  memory: app?.memory ?? '',
  icon: app?.icon ?? '',
  description: app?.description ?? '',
  mayAsk: app?.may_ask == null ? '' : app.may_ask ? 'on' : 'off',
  greeting: app?.greeting ?? '',
  starters: app?.starters ?? [],
})

export function temperatureOf(text: string): number | null | 'wrong' {
  if (text.trim() === '') return null
  const value = Number(text)
  return value >= 0 && value <= TEMPERATURE_MAX ? value : 'wrong'
}

const linesOf = (lines: readonly string[]) =>
  lines.map((line) => line.trim()).filter((line) => line !== '')

/** Whether the server accepts these starters. */
export const areStarters = (lines: readonly string[]): boolean => {
  const starters = linesOf(lines)
  return (
    starters.length <= APP_STARTERS_MAX &&
    starters.every((line) => [...line].length <= APP_STARTER_CHARS_MAX)
  )
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
    collections: draft.collections === null ? null : [...draft.collections],
    reminders: draft.reminders === '' ? null : draft.reminders === 'on',
    memory: draft.memory === '' ? null : draft.memory,
    icon: orNull(draft.icon),
    description: orNull(draft.description),
    may_ask: draft.mayAsk === '' ? null : draft.mayAsk === 'on',
    greeting: orNull(draft.greeting),
    starters: linesOf(draft.starters),
  }
}

export function isNamed({ name }: Draft): boolean {
  const length = [...name.trim()].length
  return length > 0 && length <= APP_NAME_CHARS_MAX
}

/** Whether the server accepts its fields. */
export const isSound = ({ prompt, temperature, starters }: Draft): boolean =>
  areStarters(starters) &&
  [...prompt.trim()].length <= SYSTEM_PROMPT_CHARS_MAX &&
  temperatureOf(temperature) !== 'wrong'

export const isSame = (one: Draft, other: Draft): boolean =>
  JSON.stringify(inputOf(one)) === JSON.stringify(inputOf(other))
