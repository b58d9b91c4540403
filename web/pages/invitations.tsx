import { useQuery } from '@tanstack/react-query'
import { Mail } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import type { Invitation } from '../api/types.ts'
import { useI18n } from '../i18n/index.tsx'
import { useAction, useToasts } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Ago, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** The invitations of the signed-in person to other workspaces. */
export function Invitations() {
  const { t } = useI18n()
  const [accepted, setAccepted] = useState<readonly Invitation[]>([])
  const query = useQuery({ queryKey: ['invitations'], queryFn: api.auth.invitations })
  return (
    <Page title={t('nav.invitations')} about={t('invitations.about')}>
      <div className="card overflow-hidden">
        <Loaded query={query}>
          {({ invitations }) =>
            invitations.length + accepted.length === 0 ? (
              <Empty icon={<Mail />} title={t('invitations.empty')} />
            ) : (
              <ul className="divide-y divide-line">
                {invitations.map((invitation) => (
                  <Open
                    key={invitation.id}
                    invitation={invitation}
                    onAccepted={() => setAccepted((before) => [...before, invitation])}
                  />
                ))}
                {accepted.map((invitation) => (
                  <Accepted key={invitation.id} invitation={invitation} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Page>
  )
}

const ROW = 'flex flex-wrap items-center justify-between gap-x-6 gap-y-3 px-5 py-4'

interface OpenProps {
  readonly invitation: Invitation
  readonly onAccepted: () => void
}

function Open({ invitation, onAccepted }: OpenProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const { id, tenant, role, invited_by: by, invited_at } = invitation
  const answer = useAction(api.auth.answer, {
    refresh: ['invitations', 'me'],
    onDone: (_, { how }) => {
      if (how === 'accept') onAccepted()
      else toasts.show('good', t('invitations.declined'))
    },
  })
  const words = { by: by ?? '–', role: t(`members.role.${role}`) }
  return (
    <li className={ROW}>
      <div className="min-w-0">
        <p className="font-medium break-words">{tenant}</p>
        <p className="text-note break-words text-ink-2">
          {t('invitations.row', words)} · <Ago at={invited_at} />
        </p>
      </div>
      <div className="flex gap-2">
        <Button
          size="small"
          disabled={answer.isPending}
          aria-label={`${t('invitations.decline')} ${tenant}`}
          onClick={() => answer.mutate({ id, how: 'decline' })}
        >
          {t('invitations.decline')}
        </Button>
        <Button
          size="small"
          kind="primary"
          disabled={answer.isPending}
          aria-label={`${t('invitations.accept')} ${tenant}`}
          onClick={() => answer.mutate({ id, how: 'accept' })}
        >
          {t('invitations.accept')}
        </Button>
      </div>
    </li>
  )
}

function Accepted({ invitation: { tenant_id, tenant: name } }: Pick<OpenProps, 'invitation'>) {
  const { t } = useI18n()
  const move = useAction(api.auth.switchTo, { onDone: () => location.assign('/app') })
  return (
    <li className={ROW}>
      <p className="min-w-0 break-words text-ink-2">{t('invitations.accepted', { name })}</p>
      <Button size="small" busy={move.isPending} onClick={() => move.mutate(tenant_id)}>
        {t('invitations.go', { name })}
      </Button>
    </li>
  )
}
