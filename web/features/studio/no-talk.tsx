import { SearchX, SquarePen } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'

/** Said at the address of a talk that is not there for this person. */
export function NoTalk({ onNew }: { readonly onNew: () => void }) {
  const { t } = useI18n()
  return (
    <Empty
      icon={<SearchX />}
      title={t('studio.gone')}
      text={t('studio.gone.text')}
      action={
        <Button icon={<SquarePen size={16} aria-hidden />} onClick={onNew}>
          {t('studio.new')}
        </Button>
      }
    />
  )
}
