import { Ghost, Sparkles } from 'lucide-react'
import type { App } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'
import { faceOf } from '../apps/face.ts'

const STARTERS = ['curl.text', 'studio.start.time', 'studio.start.sum'] as const

interface StartersProps {
  readonly app: App | null
  readonly isTemporary: boolean
  readonly onPick: (text: string) => void
}

/**
 * An empty conversation with the questions of the assistant. Without an assistant they are ones
 * that a server without a model answers, too.
 */
export function Starters({ app, isTemporary, onPick }: StartersProps) {
  const { t } = useI18n()
  const { icon, greeting, starters } = faceOf(app)
  const usual = app === null ? STARTERS.map((key) => t(key)) : []
  const questions = (
    <div className="flex flex-wrap justify-center gap-2">
      {(starters.length > 0 ? starters : usual).map((text) => (
        <Button key={text} size="small" className="btn-text" onClick={() => onPick(text)}>
          {text}
        </Button>
      ))}
    </div>
  )
  if (isTemporary) {
    return <Empty icon={<Ghost />} title={t('temporary.title')} text={t('temporary.text')} />
  }
  return (
    <Empty
      icon={icon ? <span className="text-[1.6rem]">{icon}</span> : <Sparkles />}
      title={app?.name ?? t('studio.empty')}
      text={greeting || t('studio.empty.text')}
      action={questions}
    />
  )
}
