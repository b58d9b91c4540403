import { type FormEvent, useState } from 'react'
import { RATE_LIMIT_DEFAULT, RATE_LIMIT_MAX } from '../../../src/core/limits/contract.ts'
import type { IssuedKey } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { SecretDialog } from '../../ui/secret.tsx'

const RATE_DEFAULT = String(RATE_LIMIT_DEFAULT)

interface IssueProps {
  readonly title: string
  readonly open: boolean
  readonly issue: (rateLimit: number) => Promise<IssuedKey>
  readonly onClose: () => void
}

/** Asks for the rate limit, issues the key, and shows it once. */
export function IssueKeyDialog({ title, open, issue, onClose }: IssueProps) {
  const { t } = useI18n()
  const [rate, setRate] = useState(RATE_DEFAULT)
  const [secret, setSecret] = useState<string | null>(null)
  const create = useAction(issue, {
    refresh: ['keys', 'usage'],
    onDone: ({ key }) => {
      setSecret(key)
      onClose()
    },
  })
  const valid = /^\d{1,6}$/.test(rate) && Number(rate) <= RATE_LIMIT_MAX
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (valid) create.mutate(Number(rate))
  }
  return (
    <>
      <Dialog title={title} open={open} onClose={onClose}>
        <form className="grid gap-5" onSubmit={submit}>
          <TextField
            label={t('keys.rate')}
            hint={t('keys.rate.hint')}
            problem={valid ? null : t('keys.rate.wrong')}
            inputMode="numeric"
            value={rate}
            onText={setRate}
          />
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button type="submit" kind="primary" busy={create.isPending} disabled={!valid}>
              {t('keys.create')}
            </Button>
          </div>
        </form>
      </Dialog>
      <SecretDialog title={t('keys.made')} secret={secret} onClose={() => setSecret(null)} />
    </>
  )
}
