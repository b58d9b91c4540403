import { Sparkles } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'

const STARTERS = ['curl.text', 'studio.start.time', 'studio.start.sum'] as const

/** An empty conversation with example questions that a server without a model answers, too. */
export function Starters({ onPick }: { readonly onPick: (text: string) => void }) {
  const { t } = useI18n()
  const questions = (
    <div className="flex flex-wrap justify-center gap-2">
      {STARTERS.map((key) => (
        <Button key={key} size="small" onClick={() => onPick(t(key))}>
          {t(key)}
        </Button>
      ))}
    </div>
  )
  return (
    <Empty
      icon={<Sparkles />}
      title={t('studio.empty')}
      text={t('studio.empty.text')}
      action={questions}
    />
  )
}
