import { Link } from '@tanstack/react-router'
import { Cable } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { useOperator } from '../../lib/rights.ts'

/** A link from an answer of the built-in responder to the page that connects a model. */
export function ConnectModel() {
  const { t } = useI18n()
  const to = useOperator() ? '/app/welcome' : '/app/provider'
  return (
    <Link to={to} className="btn justify-self-start" data-size="small">
      <Cable size={15} aria-hidden />
      {t('home.connect')}
    </Link>
  )
}
