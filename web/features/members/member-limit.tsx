import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { Member } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'

interface MemberProps {
  readonly member: Member
}

/** What a member may use a day, and the dialog that changes it. */
export function MemberLimit({ member }: MemberProps) {
  const { t, locale } = useI18n()
  const [open, setOpen] = useState(false)
  const { email, daily_tokens: most } = member
  const title = t('members.limit.of', { email })
  const shown = most === 0 ? t('members.limit.none') : most.toLocaleString(locale)
  return (
    <>
      <Button
        size="small"
        kind="quiet"
        aria-label={t('system.summary', { name: shown, value: title })}
        onClick={() => setOpen(true)}
      >
        {shown}
      </Button>
      <Dialog title={title} open={open} onClose={() => setOpen(false)}>
        <LimitForm member={member} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

const WHOLE = /^\d{1,10}$/

function LimitForm({ member, onClose }: MemberProps & { readonly onClose: () => void }) {
  const { t } = useI18n()
  const explain = useExplain()
  const [text, setText] = useState(String(member.daily_tokens))
  const save = useAction(api.members.limit, {
    done: 'members.saved',
    refresh: ['members', 'me'],
    shows: () => true,
    onDone: onClose,
  })
  const isWhole = WHOLE.test(text.trim())
  const problem = isWhole ? null : t('members.limit.wrong')
  return (
    <Form
      isWhole={isWhole}
      onSend={() => save.mutate({ id: member.id, daily_tokens: Number(text) })}
    >
      <TextField
        label={t('members.limit')}
        hint={t('members.limit.hint')}
        problem={save.error ? explain(save.error) : problem}
        inputMode="numeric"
        value={text}
        onText={setText}
      />
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}
