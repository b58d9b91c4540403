import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import { DEVICE_ONLINE_MS_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import { checkDevices, checkDocument, checkModel } from '../features/home/checks.ts'
import { Step } from '../features/home/step.tsx'
import { type Facts, stepsDone } from '../features/home/steps.ts'
import { useI18n } from '../i18n/index.tsx'
import { Stat } from '../ui/bars.tsx'
import { CurlExample } from '../ui/curl.tsx'
import { Page, Section } from '../ui/page.tsx'

function useFacts(): Facts {
  const provider = useQuery({
    queryKey: ['provider'],
    queryFn: api.provider.read,
    retry: false,
  })
  const status = useQuery({ queryKey: ['status'], queryFn: api.status, retry: false })
  const docs = useQuery({ queryKey: ['kb', 'docs'], queryFn: api.kb.list })
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys.list })
  const devices = useQuery({ queryKey: ['devices'], queryFn: api.devices.list })
  return {
    provider: provider.data,
    status: status.data,
    docs: docs.data?.docs,
    keys: keys.data?.keys,
    devices: devices.data?.devices,
  }
}

/** The state of the server, the open set-up steps, and the first call. */
export function Home() {
  const i18n = useI18n()
  const { t } = i18n
  const facts = useFacts()
  const done = stepsDone(facts)
  const left = Object.values(done).filter((is) => !is).length
  return (
    <Page title={t('home.title')} about={t(left === 0 ? 'home.about.ready' : 'home.about')}>
      <Health facts={facts} />
      <Figures facts={facts} />
      <Section
        title={t('home.start')}
        about={left === 0 ? t('home.start.done') : t('home.start.about', { left })}
      >
        <ol className="card divide-y divide-line">
          <Step id="model" to="/app/provider" done={done.model} check={() => checkModel(i18n)} />
          <Step
            id="document"
            to="/app/kb"
            done={done.document}
            check={done.document ? () => checkDocument(i18n, facts) : null}
          />
          <Step id="key" to="/app/keys" done={done.key} check={null} />
          <Step
            id="device"
            to="/app/devices"
            done={done.device}
            check={done.device ? () => checkDevices(i18n) : null}
          />
        </ol>
      </Section>
      <Section
        title={t('home.call')}
        actions={
          <Link to="/docs/reference" className="inline-flex items-center gap-1 text-accent">
            {t('docs.title')}
            <ArrowRight size={15} aria-hidden />
          </Link>
        }
      >
        <CurlExample body={{ text: t('curl.text'), session_id: 'demo' }} />
      </Section>
    </Page>
  )
}

function Health({ facts: { status } }: { readonly facts: Facts }) {
  const { t } = useI18n()
  if (!status) return null
  const well = status.status === 'ok'
  return (
    <p className="mb-5 flex items-center gap-2.5">
      <span className={`size-2.5 rounded-full ${well ? 'bg-good' : 'bg-warn'}`} aria-hidden />
      {t(well ? 'home.well' : 'home.unwell')}
      <a href="/status" className="text-accent underline underline-offset-2">
        {t('status.page')}
      </a>
    </p>
  )
}

function Figures({ facts }: { readonly facts: Facts }) {
  const { t, locale } = useI18n()
  const usage = useQuery({ queryKey: ['usage'], queryFn: api.usage })
  const number = (value: number | undefined) => value?.toLocaleString(locale) ?? '–'
  const online = facts.devices?.filter(
    ({ last_seen_at }) =>
      last_seen_at && Date.now() - Date.parse(last_seen_at) < DEVICE_ONLINE_MS_MAX,
  )
  const today = usage.data?.daily.at(-1)?.count
  return (
    <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
      <Stat label={t('home.today')} value={number(today)} />
      <Stat label={t('usage.total')} value={number(usage.data?.total)} />
      <Stat label={t('kb.docs')} value={number(facts.docs?.length)} />
      <Stat label={t('home.online')} value={number(online?.length)} />
    </div>
  )
}
