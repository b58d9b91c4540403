import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { PairingCode } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useNow } from '../../lib/time.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/page.tsx'
import { Qr } from '../../ui/qr.tsx'
import { BoardAddress } from './board-address.tsx'

const POLL_MS = 2_000

/** Groups the code as `ABCD EFGH IJKL MNOP`, to read it aloud and type it easily. */
const inFours = (code: string) => code.replace(/.{4}(?=.)/g, '$& ')

/** Letter by letter, as a screen reader is to say it. */
const spelled = (code: string) => [...code].join(' ').replace(/(\S \S \S \S) /g, '$1, ')

interface PairingProps {
  readonly name: string
  readonly code: PairingCode | null
  readonly onRecode: () => void
  readonly onClose: () => void
}

/** Shows the code until a device has used it or it expires. */
export function PairingDialog({ name, code, onRecode, onClose }: PairingProps) {
  const { t } = useI18n()
  const devices = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    refetchInterval: POLL_MS,
    enabled: code !== null,
  })
  const device = devices.data?.devices.find(({ id }) => id === code?.id)
  const at = device?.activated_at ?? null
  // A device that is paired anew counts as paired until the list was loaded again.
  const [made, setMade] = useState({ code, at })
  if (made.code !== code) setMade({ code, at })
  const paired = device !== undefined && at !== null && at !== made.at
  return (
    <Dialog
      title={t(paired ? 'devices.paired.title' : 'devices.pair', { name })}
      about={paired ? undefined : t('devices.pair.about')}
      open={code !== null}
      onClose={onClose}
      firm={!paired}
    >
      {code && !paired && <Pairing code={code} onRecode={onRecode} />}
      <div role="status">{paired && <Paired id={device.id} onClose={onClose} />}</div>
    </Dialog>
  )
}

interface PairedProps extends Pick<PairingProps, 'onClose'> {
  readonly id: string
}

/** What to do with it now: its page has a sentence to say, and its talks. */
function Paired({ id, onClose }: PairedProps) {
  const { t } = useI18n()
  return (
    <div className="grid justify-items-center gap-3 py-6 text-center">
      <CircleCheck size={34} className="text-good" aria-hidden />
      <p className="font-medium">{t('devices.paired')}</p>
      <Link
        to="/app/devices/$id"
        params={{ id }}
        className="btn"
        data-kind="primary"
        onClick={onClose}
      >
        {t('devices.say')}
      </Link>
      <Button kind="quiet" onClick={onClose}>
        {t('action.close')}
      </Button>
    </div>
  )
}

interface ShownProps {
  readonly code: PairingCode
  readonly onRecode: () => void
}

/**
 * The content of the QR code: the page to open and the code to enter. The code is after `#`, which
 * the device that opens the address does not send.
 */
const scanned = (code: string) => `${location.origin}/docs/devices#code=${code}`

function Pairing({ code, onRecode }: ShownProps) {
  const { t } = useI18n()
  const now = useNow(1_000)
  const seconds = Math.max(0, Math.ceil((Date.parse(code.code_expires_at) - now) / 1000))
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return (
    <div className="grid justify-items-center gap-4">
      <Qr text={scanned(code.activation_code)} />
      <output
        className="text-center font-mono text-2xl font-semibold tracking-wider"
        data-testid="code"
        data-first
        tabIndex={-1}
        aria-label={spelled(code.activation_code)}
      >
        {inFours(code.activation_code)}
      </output>
      <p className="-mt-2 text-center text-small text-ink-3">{t('devices.pair.letters')}</p>
      <p className={seconds === 0 ? 'text-bad' : 'text-ink-2'} role="timer">
        {seconds === 0 ? t('devices.code.over') : t('devices.code.left', { clock })}
      </p>
      <div className="w-full">
        <Notice>
          {t('devices.pair.server')} <code className="break-all">{location.origin}</code>
        </Notice>
      </div>
      <BoardAddress code={code.activation_code} />
      <div className="flex w-full justify-end gap-2">
        <CopyButton text={code.activation_code} label={t('copy.action')} />
        <Button onClick={onRecode}>{t('devices.recode')}</Button>
      </div>
    </div>
  )
}
