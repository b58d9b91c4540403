import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { Member } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { useSignInPage } from '../system/address-notice.tsx'
import { MemberLimit } from './member-limit.tsx'
import { type Role, useRoles } from './roles.ts'

interface TableProps {
  readonly members: readonly Member[]
  /** Address of the reader. */
  readonly own: string
}

export function MemberTable({ members, own }: TableProps) {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Member | null>(null)
  const [revokes, setRevokes] = useState(true)
  const leaves = asked?.email === own
  const ask = (member: Member) => {
    setRevokes(member.keys > 0 && member.email !== own)
    setAsked(member)
  }
  const remove = useAction(api.members.remove, {
    done: 'members.removed',
    refresh: ['members', 'me'],
    onDone: () => setAsked(null),
    onGone: () => setAsked(null),
  })
  return (
    <>
      <table className="rows stack">
        <thead>
          <tr>
            <th>{t('login.email')}</th>
            <th>{t('members.role')}</th>
            <th>{t('members.limit')}</th>
            <th>{t('members.since')}</th>
            <th>
              <span className="sr-only">{t('field.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <Row
              key={member.id}
              member={member}
              isOwn={member.email === own}
              onRemove={() => ask(member)}
            />
          ))}
        </tbody>
      </table>
      <Confirm
        title={
          leaves
            ? t('members.leave.title')
            : t('members.remove.title', { email: asked?.email ?? '' })
        }
        loss={asked && <Loss {...{ leaves, keys: asked.keys, revokes, setRevokes }} />}
        action={t(leaves ? 'members.leave' : 'members.remove')}
        open={asked !== null}
        busy={remove.isPending}
        onConfirm={() => asked && remove.mutate({ id: asked.id, keys: revokes })}
        onClose={() => setAsked(null)}
      />
    </>
  )
}

interface LossProps {
  readonly leaves: boolean
  /** Valid keys that the member has made. */
  readonly keys: number
  readonly revokes: boolean
  readonly setRevokes: (revokes: boolean) => void
}

/** What a removal takes away, and the choice about the keys that the member has made. */
function Loss({ leaves, keys, revokes, setRevokes }: LossProps) {
  const { t } = useI18n()
  return (
    <>
      {t(leaves ? 'members.leave.loss' : 'members.remove.loss')}
      {keys > 0 && (
        <label className="mt-4 flex items-start gap-2.5 text-ink">
          <input
            type="checkbox"
            className="mt-1"
            checked={revokes}
            onChange={(event) => setRevokes(event.target.checked)}
          />
          {t('members.remove.keys', { count: keys })}
        </label>
      )}
    </>
  )
}

/** An invitation, with the address to pass on: its mail may be lost, or name none. */
function Waiting({ email }: Pick<Member, 'email'>) {
  const { t } = useI18n()
  const what = t('system.summary', { name: t('members.address'), value: email })
  return (
    <span className="inline-flex items-center gap-1">
      <Badge>{t('members.waiting')}</Badge>
      <CopyButton text={useSignInPage()} what={what} size="small" />
    </span>
  )
}

interface RowProps {
  readonly member: Member
  readonly isOwn: boolean
  readonly onRemove: () => void
}

function Row({ member, isOwn, onRemove }: RowProps) {
  const { t } = useI18n()
  const roles = useRoles()
  const change = useAction(api.members.setRole, {
    done: 'members.saved',
    refresh: ['members', 'me'],
  })
  const action = t(isOwn ? 'members.leave' : 'members.remove')
  return (
    <tr>
      <td className="lead">
        <span className="min-w-0 break-all">
          {member.email} {isOwn && <Badge tone="accent">{t('members.you')}</Badge>}
        </span>
      </td>
      <td data-label={t('members.role')}>
        <select
          className="input"
          aria-label={`${t('members.role')} ${member.email}`}
          value={member.role}
          onChange={(event) => change.mutate({ id: member.id, role: event.target.value as Role })}
        >
          {roles.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </td>
      <td data-label={t('members.limit')}>
        <MemberLimit member={member} />
      </td>
      <td data-label={t('members.since')} className="text-ink-2">
        {member.joined_at ? <Ago at={member.joined_at} /> : <Waiting email={member.email} />}
      </td>
      <td className="actions num whitespace-nowrap">
        <Button
          kind="danger"
          size="small"
          aria-label={t('system.summary', { name: action, value: member.email })}
          onClick={onRemove}
        >
          {action}
        </Button>
      </td>
    </tr>
  )
}
