import { Link } from '@tanstack/react-router'
import { ArrowRight } from 'lucide-react'
import type { Status } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useOperator } from '../../lib/rights.ts'
import { hasPlatformModel } from '../home/steps.ts'
import { LocalServers } from './local-servers.tsx'
import { ModelPackFiles } from './model-pack.tsx'

/** Tells who runs the server that no model answers yet, with what mends it. */
export function FirstModel({ status }: { readonly status: Status | undefined }) {
  const { t } = useI18n()
  const isOperator = useOperator()
  if (!isOperator || !status || hasPlatformModel(status)) return null
  return (
    <section className="card mb-9 grid gap-4 p-6">
      <div>
        <h2>{t('system.first')}</h2>
        <p className="mt-1 text-ink-2">{t('system.first.about')}</p>
      </div>
      <LocalServers />
      <ModelPackFiles />
      <Link to="/app/system" className="target inline-flex items-center gap-1 text-accent">
        {t('system.first.go')}
        <ArrowRight size={15} aria-hidden />
      </Link>
    </section>
  )
}
