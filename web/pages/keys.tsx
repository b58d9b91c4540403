import { useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import type { ApiKeyMeta } from '../api/types.ts'
import { Connect } from '../features/connect/connect.tsx'
import { IssueKeyDialog } from '../features/keys/issue-dialog.tsx'
import { KeyTable } from '../features/keys/key-table.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useOwns } from '../lib/rights.ts'
import { useAsked } from '../lib/use-asked.ts'
import { Button } from '../ui/button.tsx'
import { ForOwners } from '../ui/changeable.tsx'
import { More } from '../ui/more.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

export function Keys() {
  const { t } = useI18n()
  const [issuing, setIssuing] = useState(false)
  const owns = useOwns()
  useAsked(() => setIssuing(true))
  const [issued, setIssued] = useState<string | null>(null)
  const [withRevoked, setWithRevoked] = useState(false)
  const query = useQuery({ queryKey: ['keys'], queryFn: api.keys.list })
  const shown = (keys: readonly ApiKeyMeta[]) =>
    withRevoked ? keys : keys.filter((key) => key.revoked_at === null)
  const revoked = query.data?.keys.filter((key) => key.revoked_at !== null).length ?? 0
  const add = (
    <Button kind="primary" icon={<Plus size={16} />} onClick={() => setIssuing(true)}>
      {t('keys.new')}
    </Button>
  )
  return (
    <Page title={t('nav.keys')} about={t('keys.about')} actions={<ForOwners>{add}</ForOwners>}>
      <div className="card overflow-hidden">
        <Loaded query={query}>
          {({ keys }) =>
            shown(keys).length === 0 ? (
              <Empty icon={<KeyRound />} title={t('keys.empty')} text={t('keys.empty.text')} />
            ) : (
              <More rows={shown(keys)} step={100}>
                {(rows) => <KeyTable keys={rows} />}
              </More>
            )
          }
        </Loaded>
      </div>
      {revoked > 0 && (
        <div className="mt-3">
          <Button kind="quiet" size="small" onClick={() => setWithRevoked(!withRevoked)}>
            {t(withRevoked ? 'keys.revoked.hide' : 'keys.revoked.show', { count: revoked })}
          </Button>
        </div>
      )}
      <Connect model="moonbase" issued={issued} />
      <IssueKeyDialog
        open={issuing && owns}
        title={t('keys.new')}
        issue={api.keys.issue}
        onIssued={setIssued}
        onClose={() => setIssuing(false)}
      />
    </Page>
  )
}
