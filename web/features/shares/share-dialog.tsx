import { useState } from 'react'
import {
  SHARE_NAME_CHARS_MAX,
  SHARE_TURNS_DEFAULT,
  SHARE_TURNS_MAX,
} from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { App, IssuedShare } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, SelectField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { Notice } from '../../ui/page.tsx'
import { Qr } from '../../ui/qr.tsx'
import { AddressNotice } from '../system/address-notice.tsx'

const DAY_MS = 86_400_000
const DAYS = ['', '1', '7', '30', '90'] as const
const END_WORDS: Readonly<Record<string, Key>> = {
  '': 'app.shares.never',
  '1': 'app.shares.after.one',
}

interface ShareProps {
  readonly app: App
  readonly open: boolean
  readonly onMade: (share: IssuedShare) => void
  readonly onClose: () => void
}

export function ShareDialog({ open, onClose, ...form }: ShareProps) {
  const { t } = useI18n()
  return (
    <Dialog title={t('app.shares.new')} open={open} onClose={onClose}>
      <ShareForm {...form} onClose={onClose} />
    </Dialog>
  )
}

function ShareForm({ app, onMade, onClose }: Omit<ShareProps, 'open'>) {
  const { t } = useI18n()
  const [name, setName] = useState('')
  const [origins, setOrigins] = useState('')
  const [turns, setTurns] = useState(String(SHARE_TURNS_DEFAULT))
  const [days, setDays] = useState('')
  const count = Number(turns)
  const wrong = !Number.isInteger(count) || count < 1 || count > SHARE_TURNS_MAX
  const create = useAction(api.shares.create, {
    refresh: ['shares'],
    onDone: (share) => {
      onClose()
      onMade(share)
    },
  })
  const send = () => {
    const end = days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
    const sites = origins.split(/\s+/).filter((line) => line !== '')
    const input = { name, origins: sites, daily_turns: count, expires_at: end }
    create.mutate({ app: app.id, input })
  }

  const ends = DAYS.map((value) => ({
    value,
    label: t(END_WORDS[value] ?? 'app.shares.after', { days: value }),
  }))
  return (
    <Form isWhole={!wrong && name.trim() !== ''} onSend={send}>
      <Notice tone="warn">{t('app.shares.warn')}</Notice>
      <AddressNotice />
      <TextField
        label={t('field.name')}
        hint={t('app.shares.name.hint')}
        required
        maxLength={SHARE_NAME_CHARS_MAX}
        value={name}
        onText={setName}
      />
      <Field label={t('app.shares.origins')} hint={t('app.shares.origins.hint')}>
        {(ids) => (
          <textarea
            {...ids}
            className="input"
            rows={2}
            value={origins}
            onChange={(event) => setOrigins(event.target.value)}
          />
        )}
      </Field>
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <TextField
          label={t('app.shares.turns')}
          problem={wrong ? t('app.shares.turns.wrong', { max: SHARE_TURNS_MAX }) : null}
          inputMode="numeric"
          value={turns}
          onText={setTurns}
        />
        <SelectField label={t('app.shares.expires')} value={days} choices={ends} onPick={setDays} />
      </div>
      <FormEnd action={t('app.shares.create')} busy={create.isPending} onCancel={onClose} />
    </Form>
  )
}

interface MadeProps {
  readonly share: IssuedShare | null
  readonly onClose: () => void
}

/** The link, its QR code and the line for a site. */
export function MadeDialog({ share, onClose }: MadeProps) {
  const { t } = useI18n()
  const link = share?.url ?? ''
  const source = link && new URL('/widget.js', link).href
  const script = `<script src="${source}" data-token="${share?.token ?? ''}" async></script>`
  return (
    <Dialog
      title={t('app.shares.edit.title', { name: share?.name ?? '' })}
      open={share !== null}
      onClose={onClose}
    >
      <div className="grid justify-items-center gap-4">
        <Qr text={link} />
        <Shown label={t('app.shares.link')} text={link} testId="share-link" />
        {share !== null && share.origins.length > 0 && (
          <>
            <Shown label={t('app.shares.widget')} text={script} testId="share-widget" />
            <p className="w-full text-small text-ink-2">{t('app.shares.widget.hint')}</p>
          </>
        )}
        <div className="flex w-full justify-end">
          <Button kind="primary" onClick={onClose}>
            {t('action.close')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

interface ShownProps {
  readonly label: string
  readonly text: string
  readonly testId: string
}

function Shown({ label, text, testId }: ShownProps) {
  const { t } = useI18n()
  return (
    <div className="w-full">
      <div className="mb-1 flex items-center justify-between gap-3">
        <span className="font-medium">{label}</span>
        <CopyButton text={text} label={t('copy.action')} size="small" />
      </div>
      <output className="code block break-all whitespace-pre-wrap" data-testid={testId}>
        {text}
      </output>
    </div>
  )
}
