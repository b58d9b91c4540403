import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, QrCode, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import type { Device } from '../api/types.ts'
import { DeviceApp } from '../features/devices/device-app.tsx'
import { type Asked, DeviceDialogs } from '../features/devices/device-dialogs.tsx'
import { DeviceSay } from '../features/devices/device-say.tsx'
import { DeviceState } from '../features/devices/device-state.tsx'
import { TalkList } from '../features/sessions/talk-list.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Gone } from '../ui/gone.tsx'
import { Ago, Page } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

const POLL_MS = 20_000

/** One device: how it is, what answers it, a sentence to say, and what was said to it. */
export function DevicePage() {
  const { id = '' }: { id?: string } = useParams({ strict: false })
  const { t } = useI18n()
  const query = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    refetchInterval: POLL_MS,
  })
  return (
    <Loaded query={query}>
      {({ devices }) => {
        const device = devices.find((item) => item.id === id)
        return device ? (
          <Shown key={id} device={device} />
        ) : (
          <Gone title={t('gone.device')} list="/app/devices" label="nav.devices" />
        )
      }}
    </Loaded>
  )
}

function Shown({ device }: { readonly device: Device }) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<Asked | null>(null)
  const ask = (what: Asked['what']) => () => setAsked({ what, device })
  const actions = (
    <ForEditors>
      <Button icon={<Pencil size={16} aria-hidden />} onClick={ask('edit')}>
        {t('action.edit')}
      </Button>
      <Button icon={<QrCode size={16} aria-hidden />} onClick={ask('recode')}>
        {t('devices.recode')}
      </Button>
      <Button
        kind="danger"
        icon={<Trash2 size={16} aria-hidden />}
        aria-label={t('action.delete')}
        onClick={ask('delete')}
      />
    </ForEditors>
  )
  return (
    <Page title={device.name} about={<Facts device={device} />} actions={actions}>
      <div className="grid gap-4 lg:grid-cols-2">
        <ForEditors>
          {device.activated_at !== null ? (
            <DeviceSay device={device} />
          ) : (
            <Waiting onCode={ask('recode')} />
          )}
          <DeviceApp device={device} />
        </ForEditors>
      </div>
      <div className="mt-9">
        <TalkList of={{ device_id: device.id }} about={t('devices.talks.about')} />
      </div>
      <DeviceDialogs
        asked={asked}
        onAsk={setAsked}
        onDeleted={() => void navigate({ to: '/app/devices' })}
      />
    </Page>
  )
}

/** What to do with a device that has not used its code yet. */
function Waiting({ onCode }: { readonly onCode: () => void }) {
  const { t } = useI18n()
  return (
    <section className="card grid content-start justify-items-start gap-3 px-5 py-4">
      <h2 className="text-base">{t('devices.pending')}</h2>
      <p className="text-ink-2">{t('devices.pending.next')}</p>
      <Button kind="primary" icon={<QrCode size={16} aria-hidden />} onClick={onCode}>
        {t('devices.recode')}
      </Button>
    </section>
  )
}

function Facts({ device }: { readonly device: Device }) {
  const { t } = useI18n()
  const { id, last_seen_at: seen } = device
  const hardware = [device.hw_model, device.firmware].filter(Boolean).join(' · ')
  return (
    <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <DeviceState device={device} />
      <span>
        {t('devices.seen')} {seen ? <Ago at={seen} /> : t('devices.seen.never')}
      </span>
      {hardware !== '' && <span>{hardware}</span>}
      <Link to="/app/memory" search={{ subject: `device:${id}` }} className="underline">
        {t('memory.device')}
      </Link>
    </span>
  )
}
