import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import { InviteDialog } from '../features/members/invite-dialog.tsx'
import { MemberTable } from '../features/members/member-table.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Button } from '../ui/button.tsx'
import { Notice, Page } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

/** The members of the tenant, for owners only. */
export function Members() {
  const { t } = useI18n()
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me })
  return (
    <Loaded query={me}>
      {({ role, email }) =>
        role === 'owner' ? (
          <List email={email} />
        ) : (
          <Page title={t('nav.members')} about={t('members.about')}>
            <Notice>{t('members.owners', { role: t(`members.role.${role}`) })}</Notice>
          </Page>
        )
      }
    </Loaded>
  )
}

function List({ email }: { readonly email: string }) {
  const { t } = useI18n()
  const [inviting, setInviting] = useState(false)
  const query = useQuery({ queryKey: ['members'], queryFn: api.members.list })
  const add = (
    <Button kind="primary" icon={<UserPlus size={16} />} onClick={() => setInviting(true)}>
      {t('members.invite')}
    </Button>
  )
  return (
    <Page title={t('nav.members')} about={t('members.about')} actions={add}>
      <div className="card overflow-hidden">
        <Loaded query={query}>
          {({ members }) => <MemberTable members={members} own={email} />}
        </Loaded>
      </div>
      <p className="mt-3 text-note text-ink-2">{t('members.role.hint')}</p>
      <InviteDialog open={inviting} onClose={() => setInviting(false)} />
    </Page>
  )
}
