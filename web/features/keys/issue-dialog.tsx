import { useState } from 'react'
import type { IssuedKey, KeyInput } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { CurlExample } from '../../ui/curl.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { KeyForm } from './key-form.tsx'

interface IssueProps {
  readonly title: string
  readonly open: boolean
  readonly issue: (input: KeyInput) => Promise<IssuedKey>
  readonly onIssued: (key: string) => void
  readonly onClose: () => void
}

/** Asks for name and limits, issues the key, and shows it once. */
export function IssueKeyDialog({ title, open, issue, onIssued, onClose }: IssueProps) {
  const { t } = useI18n()
  const [secret, setSecret] = useState<string | null>(null)
  const create = useAction(issue, {
    refresh: ['keys', 'usage'],
    onDone: ({ key }) => {
      setSecret(key)
      onIssued(key)
      onClose()
    },
  })
  return (
    <>
      <Dialog title={title} open={open} onClose={onClose}>
        <KeyForm
          item={null}
          action={t('keys.create')}
          busy={create.isPending}
          onSubmit={create.mutate}
          onCancel={onClose}
        />
      </Dialog>
      <SecretDialog title={t('keys.made')} secret={secret} onClose={() => setSecret(null)}>
        <p className="mt-3 mb-2 text-note text-ink-2">{t('keys.made.try')}</p>
        <CurlExample
          body={{ text: t('curl.text'), session_id: 'demo' }}
          {...(secret === null ? {} : { apiKey: secret })}
        />
      </SecretDialog>
    </>
  )
}
