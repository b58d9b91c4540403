import { useQuery } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { ApiError } from '../api/client.ts'
import { api } from '../api/index.ts'
import { SECTIONS } from '../features/system/parts.ts'
import { People } from '../features/system/people.tsx'
import { SystemSectionForm } from '../features/system/section.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

const FORBIDDEN = 403

/** The settings of the whole server, for operators. */
export function SystemPage() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['system'], queryFn: api.system.read, retry: false })
  const refused = query.error instanceof ApiError && query.error.status === FORBIDDEN
  return (
    <Page title={t('nav.system')} about={t('system.about')}>
      {refused ? (
        <div className="card">
          <Empty icon={<Lock />} title={t('system.refused')} text={t('system.refused.text')} />
        </div>
      ) : (
        <Loaded query={query}>
          {({ settings }) => (
            <>
              <div className="grid max-w-3xl gap-3">
                {SECTIONS.map((section) => (
                  <SystemSectionForm
                    key={section.id}
                    section={section}
                    settings={settings.filter(({ name }) => section.names.includes(name))}
                  />
                ))}
              </div>
              <div className="mt-9 max-w-3xl">
                <People />
              </div>
            </>
          )}
        </Loaded>
      )}
    </Page>
  )
}
