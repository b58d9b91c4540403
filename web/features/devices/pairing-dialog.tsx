import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useMemo } from 'react'
import { encode } from 'uqr'
import { api } from '../../api/index.ts'
import type { PairingCode } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useNow } from '../../lib/time.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/page.tsx'

const POLL_MS = 2_000

/** Groups the code as `ABCD EFGH IJKL MNOP`, to read it aloud and type it easily. */
const inFours = (code: string) => code.replace(/.{4}(?=.)/g, '$& ')

function Qr({ text }: { readonly text: string }) {
  const { data, size } = useMemo(() => encode(text, { border: 2 }), [text])
  const path = data
    .flatMap((row, y) => row.map((on, x) => (on ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  return (
    <svg viewBox={`0 0 ${size} ${size}`} className="size-44 rounded-lg bg-white" aria-hidden>
      <path d={path} fill="#111" shapeRendering="crispEdges" />
    </svg>
  )
}

interface PairingProps {
  readonly name: string
  readonly code: PairingCode | null
  readonly onRecode: () => void
  readonly onClose: () => void
}

/** Shows the code until a device has used it or it expires. */
export function PairingDialog({ name, code, onRecode, onClose }: PairingProps) {
  const { t } = useI18n()
  return (
    <Dialog
      title={t('devices.pair', { name })}
      about={t('devices.pair.about')}
      open={code !== null}
      onClose={onClose}
      firm
    >
      {code && <Pairing code={code} onRecode={onRecode} onClose={onClose} />}
    </Dialog>
  )
}

type ShownProps = Omit<PairingProps, 'name' | 'code'> & { readonly code: PairingCode }

function Pairing({ code, onRecode, onClose }: ShownProps) {
  const { t } = useI18n()
  const now = useNow(1_000)
  const seconds = Math.max(0, Math.ceil((Date.parse(code.code_expires_at) - now) / 1000))
  const devices = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    refetchInterval: POLL_MS,
  })
  const paired = devices.data?.devices.find(({ id }) => id === code.id)?.activated_at
  if (paired) {
    return (
      <div className="grid justify-items-center gap-3 py-6 text-center">
        <CircleCheck size={34} className="text-good" aria-hidden />
        <p className="font-medium">{t('devices.paired')}</p>
        <Button kind="primary" onClick={onClose}>
          {t('action.close')}
        </Button>
      </div>
    )
  }
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return (
    <div className="grid justify-items-center gap-4">
      <Qr text={code.activation_code} />
      <output
        className="text-center font-mono text-2xl font-semibold tracking-wider"
        data-testid="code"
      >
        {inFours(code.activation_code)}
      </output>
      <p className={seconds === 0 ? 'text-bad' : 'text-ink-2'} role="timer">
        {seconds === 0 ? t('devices.code.over') : t('devices.code.left', { clock })}
      </p>
      <div className="w-full">
        <Notice>
          {t('devices.pair.server')} <code className="break-all">{location.origin}</code>
        </Notice>
      </div>
      <div className="flex w-full justify-end gap-2">
        <CopyButton text={code.activation_code} label={t('copy.action')} />
        <Button onClick={onRecode}>{t('devices.recode')}</Button>
      </div>
    </div>
  )
}
