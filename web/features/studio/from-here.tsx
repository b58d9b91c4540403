import { GitBranch } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'

/** Says that the next question goes on from an earlier answer, until that is taken back. */
export function FromHere({ onEnd }: { readonly onEnd: () => void }) {
  const { t } = useI18n()
  return (
    <div className="flex items-center gap-2 pb-2 text-note text-ink-2">
      <GitBranch size={15} className="flex-none" aria-hidden />
      <p role="status" className="min-w-0 flex-1">
        {t('studio.from.text')}
      </p>
      <Button kind="quiet" size="small" onClick={onEnd}>
        {t('action.cancel')}
      </Button>
    </div>
  )
}
