import { Link } from '@tanstack/react-router'
import type { App } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Section } from '../../ui/page.tsx'

/** Which documents the assistant searches. */
export function AppKnowledge({ app }: { readonly app: App }) {
  const { t } = useI18n()
  return (
    <Section title={t('nav.kb')}>
      <p>{t(app.kb_enabled ? 'apps.knowledge.on' : 'apps.knowledge.off')}</p>
      <Link to="/app/kb" className="mt-3 inline-block text-accent underline underline-offset-2">
        {t('nav.kb')}
      </Link>
    </Section>
  )
}
