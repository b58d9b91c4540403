import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Mic, Plus } from 'lucide-react'
import { useState } from 'react'
import { DEVICES_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import { type Asked, DeviceDialogs } from '../features/devices/device-dialogs.tsx'
import { DeviceTable } from '../features/devices/device-table.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAsked } from '../lib/use-asked.ts'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Notice, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

const POLL_MS = 20_000

export function Devices() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const query = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    refetchInterval: POLL_MS,
  })
  const askNew = () => setAsked({ what: 'new', device: null })
  useAsked(askNew)
  const full = (query.data?.devices.length ?? 0) >= DEVICES_MAX
  const add = full ? null : (
    <Button kind="primary" icon={<Plus size={16} aria-hidden />} onClick={askNew}>
      {t('devices.new')}
    </Button>
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
              <DeviceTable devices={devices} onAsk={setAsked} />
            )
          }
        </Loaded>
      </div>
      <DeviceDialogs asked={asked} onAsk={setAsked} />
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
