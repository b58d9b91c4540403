import { Link2, LogOut, ShieldCheck, ShieldOff, Trash2, UserCheck, UserX } from 'lucide-react'
import type { Person } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { Button } from '../../ui/button.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { RowMenu } from '../../ui/row-menu.tsx'
import type { PersonActs } from './person-acts.tsx'

interface RowProps {
  readonly person: Person
  readonly isMe: boolean
  readonly acts: PersonActs
}

/** A person with what they used today, and what an operator does with them. */
export function PersonRow({ person, isMe, acts }: RowProps) {
  const { t, locale } = useI18n()
  const { email, disabled, operator, named, last_sign_in_at: last } = person
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
          {listed(
            person.tenants.map(({ name }) => name),
            locale,
          )}
          {' · '}
          {last ? <Ago at={last} /> : t('system.people.never')}
          {person.tokens_today > 0 &&
            ` · ${t('people.tokens', { count: person.tokens_today.toLocaleString(locale) })}`}
        </p>
      </div>
      {!isMe && <PersonActions person={person} acts={acts} />}
    </li>
  )
}

function PersonActions({ person, acts }: Omit<RowProps, 'isMe'>) {
  const { t } = useI18n()
  const { email, disabled, operator } = person
  const linkAction = {
    label: t('people.link'),
    icon: Link2,
    act: () => acts.makeLink(person),
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
            act: () => acts.operate(person),
          },
          { label: t('people.sign.out'), icon: LogOut, act: () => acts.signOut(person) },
        ]}
      />
      <Button
        size="small"
        icon={disabled ? <UserCheck size={15} aria-hidden /> : <UserX size={15} aria-hidden />}
        busy={acts.isTurning(person)}
        aria-label={t(disabled ? 'system.people.enable.of' : 'system.people.disable.of', { email })}
        onClick={() => acts.turn(person)}
      >
        {t(disabled ? 'system.people.enable' : 'system.people.disable')}
      </Button>
      <Button
        size="small"
        kind="danger"
        icon={<Trash2 size={15} aria-hidden />}
        aria-label={t('system.people.delete.of', { email })}
        onClick={() => acts.askDelete(person)}
      />
    </div>
  )
}
