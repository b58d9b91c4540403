import { SearchX, SquarePen } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'
import { useConversations } from './conversations.ts'
import { freshSession } from './fresh.ts'

interface NoTalkProps {
  readonly session: string
  readonly onNew: () => void
}

/** Said at the address of a talk that is not there for this person. */
export function NoTalk({ session, onNew }: NoTalkProps) {
  const { t } = useI18n()
  const { drafts } = useConversations()
  const goOn = () => {
    // What was being written for it is not lost with it.
    drafts.carry(session, freshSession)
    onNew()
  }
  // The field that had the focus is gone with the talk.
  const takeFocus = (button: HTMLButtonElement | null) => {
    const { activeElement, body } = document
    if (activeElement === body || !activeElement?.checkVisibility()) button?.focus()
  }
  return (
    <Empty
      icon={<SearchX />}
      title={t('studio.gone')}
      text={t('studio.gone.text')}
      action={
        <Button ref={takeFocus} icon={<SquarePen size={16} aria-hidden />} onClick={goOn}>
          {t('studio.new')}
        </Button>
      }
    />
  )
}
