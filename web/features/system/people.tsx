import { useQuery } from '@tanstack/react-query'
import { Trash2, UserCheck, UserX } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { Person } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Ago, Badge, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'

/** The people who can sign in to this server. */
export function People() {
  const { t } = useI18n()
  const people = useQuery({ queryKey: ['people'], queryFn: api.system.people })
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me })
  return (
    <Section title={t('system.people')} about={t('system.people.about')}>
      <Loaded query={people}>
        {({ people: list }) => (
          <ul className="card divide-y divide-line">
            {list.map((person) => (
              <PersonRow key={person.id} person={person} isMe={person.id === me.data?.user_id} />
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  )
}

interface RowProps {
  readonly person: Person
  readonly isMe: boolean
}

function PersonRow({ person, isMe }: RowProps) {
  const { t } = useI18n()
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
        </p>
      </div>
      {!isMe && <PersonActions id={id} email={email} disabled={disabled} />}
    </li>
  )
}

type ActionsProps = Pick<Person, 'id' | 'email' | 'disabled'>

function PersonActions({ id, email, disabled }: ActionsProps) {
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
  return (
    <div className="flex gap-2">
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
