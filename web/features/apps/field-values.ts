import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import type { AppInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { NO_COLLECTION, useLoadedCollections } from '../kb/collections.ts'

/** The value of an app's field in words, as the form offers it. */
export function useFieldValues(): (name: keyof AppInput, app: AppInput) => string {
  const { t, locale } = useI18n()
  const collections = useLoadedCollections()
  const personas = useQuery({ queryKey: ['personas'], queryFn: api.personas.list }).data?.personas

  const personaOf = (id: string) =>
    personas ? (personas.find((one) => one.id === id)?.name ?? t('apps.persona.gone')) : '…'
  const collectionOf = (id: string) =>
    id === NO_COLLECTION
      ? t('kb.collections.none')
      : collections
        ? (collections.find((one) => one.id === id)?.name ?? t('apps.collections.gone'))
        : '…'
  const memories = {
    off: t('state.off'),
    app: t('memory.switch.app'),
    tenant: t('memory.switch.tenant'),
  }

  return (name, app) => {
    if (name === 'collections' && app.collections === null) return t('apps.collections.every')
    if (name === 'tools_enabled' && app.tools_enabled === null) return t('apps.tools.all')
    if (name === 'tools_enabled' && app.tools_enabled?.length === 0) return t('apps.tools.none')
    if (name === 'persona_id' && app.persona_id !== null) return personaOf(app.persona_id)
    if (name === 'memory' && app.memory !== null) return memories[app.memory]
    if (name === 'collections' && app.collections) {
      return listed(app.collections.map(collectionOf), locale) || t('apps.versions.empty.value')
    }
    const value = app[name]
    if (typeof value === 'boolean') return t(value ? 'state.on' : 'state.off')
    if (Array.isArray(value)) return value.join('\n') || t('apps.versions.empty.value')
    // A text that is not set is empty; of all other fields a default holds then.
    if (value === null || value === undefined) {
      return t(TEXTS.has(name) ? 'apps.versions.empty.value' : 'apps.inherit')
    }
    return String(value) || t('apps.versions.empty.value')
  }
}

const TEXTS: ReadonlySet<keyof AppInput> = new Set([
  ...(['icon', 'description', 'greeting', 'system_prompt'] as const),
])
