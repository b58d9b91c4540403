import { type Key, useI18n } from '../../i18n/index.tsx'

/** The kinds that a configuration holds, in the order of their names here. */
const KINDS = {
  personas: 'nav.personas',
  apps: 'nav.apps',
  collections: 'apps.collections',
  documents: 'kb.docs',
  mcp_servers: 'tools.servers',
  prompts: 'nav.prompts',
  schedules: 'nav.schedules',
  webhooks: 'nav.webhooks',
} as const satisfies Readonly<Record<string, Key>>

export type Counts = Readonly<Partial<Record<keyof typeof KINDS, number | undefined>>>

/** Words for what is held, such as "Personas: 2 and Settings"; empty for nothing. */
export function useHoldings(): (counts: Counts, settings: boolean) => string {
  const { t, locale } = useI18n()
  return (counts, settings) => {
    const names = Object.keys(KINDS) as (keyof typeof KINDS)[]
    const parts = names
      .filter((name) => counts[name])
      .map((name) => t('system.summary', { name: t(KINDS[name]), value: counts[name] ?? 0 }))
    const all = settings ? [...parts, t('transfer.kind.settings')] : parts
    return new Intl.ListFormat(locale).format(all)
  }
}
