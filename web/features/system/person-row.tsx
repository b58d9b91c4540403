import { Link2, LogOut, ShieldCheck, ShieldOff, Trash2, UserCheck, UserX } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { Person } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { RowMenu } from '../../ui/row-menu.tsx'
import { SecretDialog } from '../../ui/secret.tsx'

interface RowProps {
  readonly person: Person
  readonly isMe: boolean
}

/** A person with what they used today, and what an operator does with them. */
export function PersonRow({ person, isMe }: RowProps) {
  const { t, locale } = useI18n()
  const { id, email, disabled, operator, named, last_sign_in_at: last } = person
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-5 py-3">
      <div className="min-w-0">
        <p className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-all font-medium">{email}</span>
          {operator && <Badge tone="accent">{t('system.people.operator')}</Badge>}
          {named && <Badge>{t('system.people.named')}</Badge>}
          {disabled && <Badge tone="warn">{t('system.people.disabled')}</Badge>}
        </p>
        <p className="text-small text-ink-3">
          {person.tenants.map(({ name }) => name).join(', ')}
          {' · '}
          {last ? <Ago at={last} /> : t('system.people.never')}
          {person.tokens_today > 0 &&
            ` · ${t('people.tokens', { count: person.tokens_today.toLocaleString(locale) })}`}
        </p>
      </div>
      {!isMe && <PersonActions {...{ id, email, disabled, operator }} />}
    </li>
  )
}

type ActionsProps = Pick<Person, 'id' | 'email' | 'disabled' | 'operator'>

function PersonActions({ id, email, disabled, operator }: ActionsProps) {
  const { t } = useI18n()
  const [asked, setAsked] = useState<'disable' | 'delete' | null>(null)
  const close = () => setAsked(null)
  const change = useAction((to: boolean) => api.system.disable(id, to), {
    refresh: ['people'],
    onDone: close,
  })
  const remove = useAction(() => api.system.removePerson(id), {
    done: 'system.people.deleted',
    refresh: ['people', 'me'],
    onDone: close,
  })
  const operate = useAction(() => api.system.operate(id, !operator), {
    done: 'system.saved',
    refresh: ['people'],
  })
  const signOut = useAction(() => api.system.signOut(id), { done: 'people.signed.out' })
  const [link, setLink] = useState<string | null>(null)
  const makeLink = useAction(() => api.system.personLink(id), { onDone: ({ url }) => setLink(url) })
  const linkAction = {
    label: t('people.link'),
    icon: Link2,
    act: () => makeLink.mutate(undefined),
  }
  return (
    <div className="flex gap-2">
      <RowMenu
        label={t('people.actions', { email })}
        actions={[
          ...(disabled ? [] : [linkAction]),
          {
            label: t(operator ? 'people.operator.off' : 'people.operator.on'),
            icon: operator ? ShieldOff : ShieldCheck,
            act: () => operate.mutate(undefined),
          },
          { label: t('people.sign.out'), icon: LogOut, act: () => signOut.mutate(undefined) },
        ]}
      />
      <Button
        size="small"
        icon={disabled ? <UserCheck size={15} aria-hidden /> : <UserX size={15} aria-hidden />}
        busy={change.isPending}
        aria-label={t(disabled ? 'system.people.enable.of' : 'system.people.disable.of', { email })}
        onClick={() => (disabled ? change.mutate(false) : setAsked('disable'))}
      >
        {t(disabled ? 'system.people.enable' : 'system.people.disable')}
      </Button>
      <Button
        size="small"
        kind="danger"
        icon={<Trash2 size={15} aria-hidden />}
        aria-label={t('system.people.delete.of', { email })}
        onClick={() => setAsked('delete')}
      />
      <SecretDialog
        title={t('people.link.of', { email })}
        secret={link}
        onClose={() => setLink(null)}
      >
        {t('people.link.about')}
      </SecretDialog>
      <Confirm
        title={t('system.people.disable.of', { email })}
        loss={t('system.people.disable.loss')}
        action={t('system.people.disable')}
        open={asked === 'disable'}
        busy={change.isPending}
        onConfirm={() => change.mutate(true)}
        onClose={close}
      />
      <Confirm
        title={t('system.people.delete.of', { email })}
        loss={t('system.people.delete.loss')}
        action={t('action.delete')}
        open={asked === 'delete'}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(undefined)}
        onClose={close}
      />
    </div>
  )
}
