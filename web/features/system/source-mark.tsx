import { Lock } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Badge } from '../../ui/page.tsx'

/** Marks what the environment has set, and nobody can change here. */
export function SourceMark() {
  const { t } = useI18n()
  return <Badge icon={<Lock size={12} aria-hidden />}>{t('system.source.environment')}</Badge>
}
