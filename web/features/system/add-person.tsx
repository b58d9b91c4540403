import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain, useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { SwitchField, TextField } from '../../ui/form.tsx'
import { Form } from '../../ui/form-end.tsx'
import { Notice } from '../../ui/page.tsx'
import { Unmailed } from './unmailed.tsx'

/** Lets somebody in by their address; with mail they get a welcome. */
export function AddPerson({ onClose }: { readonly onClose: () => void }) {
  const { t } = useI18n()
  const explain = useExplain()
  const toasts = useToasts()
  const methods = useQuery({ queryKey: ['methods'], queryFn: api.auth.methods })
  const { email_delivery: delivery = 'mail', mail = 'ok' } = methods.data ?? {}
  const isMailed = delivery === 'mail' && mail !== 'failing'
  const [email, setEmail] = useState('')
  const [operator, setOperator] = useState(false)
  const add = useAction(() => api.system.addPerson({ email: email.trim(), operator }), {
    refresh: ['people'],
    shows: () => true,
    onDone() {
      if (!isMailed) return
      toasts.show('good', t('people.added'))
      onClose()
    },
  })
  if (add.data && !isMailed) {
    return (
      <Unmailed onClose={onClose}>{t('people.added.unmailed', { email: add.data.email })}</Unmailed>
    )
  }
  const isTaken = add.error instanceof ApiError && add.error.error?.code === 'name_taken'
  return (
    <Form isWhole={email.trim() !== ''} onSend={() => add.mutate(undefined)}>
      <TextField
        label={t('login.email')}
        hint={t('people.add.hint')}
        type="email"
        required
        autoComplete="off"
        value={email}
        onText={setEmail}
      />
      <SwitchField
        label={t('people.operator.on')}
        hint={t('people.operator.hint')}
        on={operator}
        onChange={setOperator}
      />
      <div aria-live="polite">
        {add.error && (
          <Notice tone="bad">{isTaken ? t('people.add.taken') : explain(add.error)}</Notice>
        )}
      </div>
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button type="submit" kind="primary" busy={add.isPending}>
          {t('people.add')}
        </Button>
      </div>
    </Form>
  )
}
