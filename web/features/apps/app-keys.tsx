import { useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { App } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAsked } from '../../lib/use-asked.ts'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { modelOf } from '../connect/clients.ts'
import { Connect } from '../connect/connect.tsx'
import { IssueKeyDialog } from '../keys/issue-dialog.tsx'
import { KeyTable } from '../keys/key-table.tsx'

/** The keys of this app. */
export function AppKeys({ app }: { readonly app: App }) {
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const [issued, setIssued] = useState<string | null>(null)
  const [issuing, setIssuing] = useState(false)
  useAsked(() => setIssuing(true))
  const query = useQuery({ queryKey: ['keys'], queryFn: api.keys.list })
  const add = (
    <Button size="small" icon={<Plus size={15} aria-hidden />} onClick={() => setIssuing(true)}>
      {t('apps.keys.new')}
    </Button>
  )
  return (
    <>
      <Section
        title={t('apps.keys')}
        about={t('apps.keys.about')}
        actions={<ForEditors>{add}</ForEditors>}
      >
        <div className="card overflow-hidden">
          <Loaded query={query} rows={2}>
            {({ keys }) => {
              const own = keys.filter((key) => key.app_id === app.id && key.revoked_at === null)
              return own.length === 0 ? (
                <Empty icon={<KeyRound />} title={t('apps.keys.empty')} />
              ) : (
                <KeyTable keys={own} />
              )
            }}
          </Loaded>
        </div>
        <IssueKeyDialog
          open={issuing}
          title={t('apps.keys.new')}
          issue={(input) => api.apps.issueKey(app.id, input)}
          onIssued={setIssued}
          onClose={() => setIssuing(false)}
        />
      </Section>
      <Connect model={modelOf(app, apps.data?.apps ?? [app])} issued={issued} />
    </>
  )
}
