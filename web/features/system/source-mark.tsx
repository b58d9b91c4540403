import { Lock } from 'lucide-react'
import type { SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Badge } from '../../ui/page.tsx'

/** Who has set a value. */
export function SourceMark({ source }: { readonly source: SystemSetting['source'] }) {
  const { t } = useI18n()
  const isFixed = source === 'environment'
  return (
    <Badge
      tone={source === 'console' ? 'accent' : undefined}
      icon={isFixed ? <Lock size={12} aria-hidden /> : undefined}
    >
      {t(`system.source.${source}`)}
    </Badge>
  )
}
