import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Hash, Mic, Plus } from 'lucide-react'
import { useState } from 'react'
import { DEVICES_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import type { Device, PairingCode } from '../api/types.ts'
import { DeviceDialog, type DeviceDraft } from '../features/devices/device-dialog.tsx'
import { DeviceTable } from '../features/devices/device-table.tsx'
import { DigitsDialog } from '../features/devices/digits-dialog.tsx'
import { PairingDialog } from '../features/devices/pairing-dialog.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { useAsked } from '../lib/use-asked.ts'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Notice, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

const POLL_MS = 20_000

type Asked = {
  readonly what: 'new' | 'digits' | 'edit' | 'recode' | 'delete'
  readonly device: Device | null
}
type Shown = { readonly name: string; readonly code: PairingCode }

export function Devices() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [shown, setShown] = useState<Shown | null>(null)
  const query = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    refetchInterval: POLL_MS,
  })
  const askNew = () => setAsked({ what: 'new', device: null })
  useAsked(askNew)
  const ask = (what: Asked['what']) => (device: Device) => setAsked({ what, device })
  const full = (query.data?.devices.length ?? 0) >= DEVICES_MAX
  const add = full ? null : (
    <>
      <Button
        icon={<Hash size={16} aria-hidden />}
        onClick={() => setAsked({ what: 'digits', device: null })}
      >
        {t('devices.digits')}
      </Button>
      <Button
        kind="primary"
        icon={<Plus size={16} aria-hidden />}
        onClick={() => setAsked({ what: 'new', device: null })}
      >
        {t('devices.new')}
      </Button>
    </>
  )
  return (
    <Page title={t('nav.devices')} about={<About />} actions={<ForEditors>{add}</ForEditors>}>
      {full && <Notice tone="warn">{t('devices.full', { max: DEVICES_MAX })}</Notice>}
      <div className="card mt-4 overflow-hidden first:mt-0">
        <Loaded query={query}>
          {({ devices }) =>
            devices.length === 0 ? (
              <Empty icon={<Mic />} title={t('devices.empty')} text={t('devices.empty.text')} />
            ) : (
              <DeviceTable
                devices={devices}
                onEdit={ask('edit')}
                onRecode={ask('recode')}
                onDelete={ask('delete')}
              />
            )
          }
        </Loaded>
      </div>
      <Dialogs asked={asked} shown={shown} onAsk={setAsked} onShow={setShown} />
    </Page>
  )
}

function About() {
  const { t } = useI18n()
  return (
    <>
      {t('devices.about')}{' '}
      <Link to="/docs/devices" className="text-accent underline underline-offset-2">
        {t('makers.title')}
      </Link>
    </>
  )
}

interface DialogsProps {
  readonly asked: Asked | null
  readonly shown: Shown | null
  readonly onAsk: (asked: Asked | null) => void
  readonly onShow: (shown: Shown | null) => void
}

function Dialogs({ asked, shown, onAsk, onShow }: DialogsProps) {
  const { t } = useI18n()
  const close = () => onAsk(null)
  const device = asked?.device ?? null
  const name = device?.name ?? ''
  const refresh = ['devices']
  const register = useAction(api.devices.register, {
    refresh,
    onDone: (made) => {
      close()
      onShow({ name: made.name, code: made })
    },
  })
  const update = useAction(
    ({ id, draft }: { id: string; draft: DeviceDraft }) => api.devices.update(id, draft),
    { refresh, done: 'devices.saved', onDone: close },
  )
  const recode = useAction(
    (target: { id: string; name: string }) => api.devices.recode(target.id),
    {
      refresh: ['devices', 'keys'],
      onDone: (code, target) => {
        close()
        onShow({ name: target.name, code })
      },
    },
  )
  const remove = useAction(api.devices.remove, {
    refresh: ['devices', 'keys'],
    done: 'devices.deleted',
    onDone: close,
  })
  return (
    <>
      <DeviceDialog
        device={device}
        open={asked?.what === 'new' || asked?.what === 'edit'}
        busy={register.isPending || update.isPending}
        onSave={(draft) =>
          device ? update.mutate({ id: device.id, draft }) : register.mutate(draft)
        }
        onClose={close}
      />
      <Confirm
        title={t('devices.recode.title', { name })}
        loss={t('devices.recode.loss')}
        action={t('devices.recode')}
        open={asked?.what === 'recode'}
        busy={recode.isPending}
        onConfirm={() => device && recode.mutate(device)}
        onClose={close}
      />
      <Confirm
        title={t('devices.delete.title', { name })}
        loss={t('devices.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => device && remove.mutate(device.id)}
        onClose={close}
      />
      <DigitsDialog open={asked?.what === 'digits'} onClose={close} />
      <PairingDialog
        name={shown?.name ?? ''}
        code={shown?.code ?? null}
        onRecode={() => shown && recode.mutate({ id: shown.code.id, name: shown.name })}
        onClose={() => onShow(null)}
      />
    </>
  )
}
