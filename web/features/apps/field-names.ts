import type { AppInput } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'

const NAMES: Readonly<Record<keyof AppInput, Key>> = {
  name: 'field.name',
  icon: 'apps.icon',
  description: 'apps.description',
  greeting: 'apps.greeting',
  starters: 'apps.starters',
  system_prompt: 'apps.prompt',
  persona_id: 'apps.persona',
  model: 'field.model',
  thinking: 'field.thinking',
  temperature: 'field.temperature',
  kb_enabled: 'nav.kb',
  collections: 'apps.collections',
  memory: 'memory.switch',
  reminders: 'settings.reminders',
  may_ask: 'settings.may-ask',
  tools_enabled: 'apps.tools',
}

/** Whether the form of an app has such a field. */
export const isKnownField = (name: string): name is keyof typeof NAMES => Object.hasOwn(NAMES, name)

/** What the form of an app calls its fields; a name of a newer server stays as it is. */
export function useFieldNames(): (name: string) => string {
  const { t } = useI18n()
  return (name) => (isKnownField(name) ? t(NAMES[name]) : name)
}
