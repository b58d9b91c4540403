import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { DEVICE_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { WaitingBoard } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { Unreachable, useBoards } from './board-address.tsx'

interface DigitsProps {
  readonly open: boolean
  readonly onClose: () => void
}

/** Pairs a board by the six digits that it shows: first finds the board, then asks for a name. */
export function DigitsDialog({ open, onClose }: DigitsProps) {
  const { t } = useI18n()
  const { data } = useBoards()
  return (
    <Dialog
      title={t('devices.digits')}
      about={t('devices.digits.about', { address: data?.address ?? '' })}
      open={open}
      onClose={onClose}
    >
      {open && data && !data.reachable && <Unreachable />}
      {open && <Steps onClose={onClose} />}
    </Dialog>
  )
}

function Steps({ onClose }: Pick<DigitsProps, 'onClose'>) {
  const { t } = useI18n()
  const explain = useExplain()
  const [code, setCode] = useState('')
  const isWhole = code.replace(/\D/g, '').length === 6
  const find = useAction(api.devices.waiting, { shows: () => true })
  if (find.data) return <Naming code={code} board={find.data} onClose={onClose} />
  return (
    <Form className="mt-4 grid gap-5" isWhole={isWhole} onSend={() => find.mutate(code)}>
      <TextField
        label={t('devices.digits.code')}
        value={code}
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={9}
        problem={find.error && explain(find.error)}
        lacks={!isWhole && t('devices.digits.wrong')}
        onText={setCode}
      />
      <FormEnd action={t('devices.digits.find')} busy={find.isPending} onCancel={onClose} />
    </Form>
  )
}

interface NamingProps {
  readonly code: string
  readonly board: WaitingBoard
  readonly onClose: () => void
}

function Naming({ code, board, onClose }: NamingProps) {
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const [name, setName] = useState('')
  const [appId, setAppId] = useState('')
  const pair = useAction(api.devices.pair, {
    refresh: ['devices', 'keys'],
    done: 'devices.digits.done',
    onDone: onClose,
  })
  return (
    <Form
      className="mt-4 grid gap-5"
      isWhole={name.trim() !== ''}
      onSend={() => pair.mutate({ code, name: name.trim(), app_id: appId || null })}
    >
      <p role="status" data-testid="waiting-board">
        {t('devices.digits.found', { board: board.board ?? '?', tail: board.mac_tail })}
      </p>
      <TextField
        label={t('field.name')}
        value={name}
        maxLength={DEVICE_NAME_CHARS_MAX}
        required
        onText={setName}
      />
      <SelectField
        label={t('devices.app')}
        hint={t('devices.app.hint')}
        value={appId}
        choices={[
          { value: '', label: t('devices.app.none') },
          ...(apps.data?.apps ?? []).map((app) => ({ value: app.id, label: app.name })),
        ]}
        onPick={setAppId}
      />
      <FormEnd action={t('devices.digits.pair')} busy={pair.isPending} onCancel={onClose} />
    </Form>
  )
}
