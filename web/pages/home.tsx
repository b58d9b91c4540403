import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight, ChevronDown } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { api } from '../api/index.ts'
import { checkDevices, checkDocument, checkModel, type Found } from '../features/home/checks.ts'
import { Health } from '../features/home/health.tsx'
import { Figures, Overview } from '../features/home/overview.tsx'
import { Step } from '../features/home/step.tsx'
import { type Facts, isKnown, stepsDone, stepsLeft } from '../features/home/steps.ts'
import { FirstModel } from '../features/system/first-run.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useOperator } from '../lib/rights.ts'
import { CurlExample } from '../ui/curl.tsx'
import { Page, Section } from '../ui/page.tsx'

function useFacts(): Facts {
  const provider = useQuery({
    queryKey: ['provider'],
    queryFn: api.provider.read,
    retry: false,
  })
  const status = useQuery({ queryKey: ['status'], queryFn: api.status, retry: false })
  const docs = useQuery({ queryKey: ['kb', 'embedding'], queryFn: api.kb.embedding })
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

/** The state of the server, the open set-up steps, and recent events. */
export function Home() {
  const { t } = useI18n()
  const facts = useFacts()
  const [tested, setTested] = useState<Found | null>(null)
  const left = stepsLeft(stepsDone(facts))
  const ready = left === 0
  const steps = <Steps facts={facts} onTested={setTested} />
  return (
    <Page title={t('home.title')} about={t(ready ? 'home.about.ready' : 'home.about')}>
      <Health facts={facts} tested={tested} />
      {ready || !isKnown(facts) ? null : (
        <div className="mb-9">
          <Section title={t('home.start')} about={t('home.start.about', { left })}>
            {steps}
          </Section>
        </div>
      )}
      <Figures facts={facts} />
      <Overview facts={facts} />
      {ready ? (
        <Folded title={t('home.start.fold')}>
          {steps}
          <FirstCall />
        </Folded>
      ) : (
        <FirstCall />
      )}
    </Page>
  )
}

interface StepsProps {
  readonly facts: Facts
  readonly onTested: (found: Found | null) => void
}

function Steps({ facts, onTested }: StepsProps) {
  const i18n = useI18n()
  const done = stepsDone(facts)
  const isOperator = useOperator()
  return (
    <ol className="card divide-y divide-line">
      <Step
        id="model"
        to={isOperator && !facts.provider?.configured ? '/app/system/models' : '/app/provider'}
        done={done.model}
        check={() => checkModel(i18n)}
        onFound={onTested}
      >
        {isOperator && !done.model && <FirstModel />}
      </Step>
      <Step
        id="document"
        to="/app/kb"
        done={done.document}
        check={done.document ? () => checkDocument(i18n) : null}
      />
      <Step id="key" to="/app/keys" done={done.key} check={null} />
      <Step
        id="device"
        to="/app/devices"
        done={done.device}
        check={done.device ? () => checkDevices(i18n) : null}
      />
    </ol>
  )
}

interface FoldedProps {
  readonly title: string
  readonly children: ReactNode
}

/** A folded section, for tests of steps that are done. */
function Folded({ title, children }: FoldedProps) {
  return (
    <details className="group mt-9">
      <summary className="mb-3 target inline-flex cursor-pointer list-none items-center gap-2">
        <h2>{title}</h2>
        <ChevronDown size={16} className="text-ink-3 group-open:rotate-180" aria-hidden />
      </summary>
      {children}
    </details>
  )
}

function FirstCall() {
  const { t } = useI18n()
  return (
    <Section
      title={t('home.call')}
      actions={
        <Link to="/docs/reference" className="target inline-flex items-center gap-1 text-accent">
          {t('docs.title')}
          <ArrowRight size={15} aria-hidden />
        </Link>
      }
    >
      <CurlExample body={{ text: t('curl.text'), session_id: 'demo' }} />
    </Section>
  )
}
