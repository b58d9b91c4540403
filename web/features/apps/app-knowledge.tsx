import { Link } from '@tanstack/react-router'
import type { App } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Section } from '../../ui/page.tsx'
import { NO_COLLECTION, useCollections } from '../kb/collections.ts'

/** Which documents the assistant searches. */
export function AppKnowledge({ app }: { readonly app: App }) {
  const { t } = useI18n()
  const known = useCollections()
  const seen = app.kb_enabled ? (app.collections ?? null) : null
  const nameOf = (id: string): string => {
    if (id === NO_COLLECTION) return t('kb.collections.none')
    const found = known.find((one) => one.id === id)
    if (!found) return t('apps.collections.gone')
    return t('apps.collections.one', { name: found.name, count: found.doc_count })
  }
  const about = () => {
    if (!app.kb_enabled) return t('apps.knowledge.off')
    if (seen === null) return t('apps.knowledge.on')
    return t(seen.length === 0 ? 'apps.knowledge.none' : 'apps.knowledge.some')
  }
  return (
    <Section title={t('nav.kb')}>
      <p>{about()}</p>
      {seen !== null && seen.length > 0 && (
        <ul className="mt-2 list-disc pl-5">
          {seen.map((id) => (
            <li key={id} className="break-words">
              {nameOf(id)}
            </li>
          ))}
        </ul>
      )}
      <Link to="/app/kb" className="target mt-3 text-accent underline underline-offset-2">
        {t('nav.kb')}
      </Link>
    </Section>
  )
}
