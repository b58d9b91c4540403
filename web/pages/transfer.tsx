import { useQuery } from '@tanstack/react-query'
import { Download, Eye } from 'lucide-react'
import { useState } from 'react'
import { transfer } from '../api/transfer.ts'
import type { ConfigExport } from '../api/types.ts'
import { useEmbedding } from '../features/kb/embedding.ts'
import { type Counts, useHoldings } from '../features/transfer/holdings.ts'
import { ImportPanel } from '../features/transfer/import-panel.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useMayChange } from '../lib/rights.ts'
import { SwitchField } from '../ui/form.tsx'
import { Notice, Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

export function Transfer() {
  const { t } = useI18n()
  const [isWhole, setIsWhole] = useState(false)
  const { data: embedding } = useEmbedding()
  const mayExport = useMayChange()
  const holdingsOf = useHoldings()
  const query = useQuery({
    queryKey: ['export'],
    queryFn: transfer.read,
    staleTime: 0,
    enabled: mayExport,
  })
  if (!mayExport) {
    return (
      <Page title={t('nav.transfer')} about={t('transfer.about')}>
        <Notice icon={<Eye size={16} aria-hidden />}>{t('members.reads')}</Notice>
      </Page>
    )
  }
  return (
    <Page title={t('nav.transfer')} about={t('transfer.about')}>
      <Section title={t('transfer.export')} about={t('transfer.export.about')}>
        <div className="card p-6">
          <Loaded query={query} rows={1}>
            {(config) => (
              <div className="grid gap-5">
                <SwitchField
                  label={t('transfer.kb')}
                  hint={t('transfer.kb.hint', { count: embedding?.docs ?? 0 })}
                  on={isWhole}
                  onChange={setIsWhole}
                />
                <div className="flex flex-wrap items-center justify-between gap-4">
                  <p className="text-ink-2">{holdingsOf(countsOf(config), true)}</p>
                  <a
                    className="btn"
                    href={`/console/export?download=1${isWhole ? '&kb=1' : ''}`}
                    download
                  >
                    <Download size={16} aria-hidden />
                    {t('transfer.download')}
                  </a>
                </div>
              </div>
            )}
          </Loaded>
        </div>
      </Section>
      <Section title={t('transfer.import')} about={t('transfer.import.about')}>
        <div className="grid gap-4">
          <ImportPanel held={query.data ?? null} />
        </div>
      </Section>
    </Page>
  )
}

const countsOf = (config: ConfigExport): Counts => ({
  personas: config.personas.length,
  apps: config.apps.length,
  collections: config.collections?.length,
  mcp_servers: config.mcp_servers.length,
  prompts: config.prompts?.length,
  schedules: config.schedules?.length,
  webhooks: config.webhooks?.length,
})
