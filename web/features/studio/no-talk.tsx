import { SearchX, SquarePen } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/state.tsx'
import { useConversations } from './conversations.ts'
import { type Draft, NO_DRAFT } from './drafts.ts'
import { freshSession } from './fresh.ts'

interface NoTalkProps {
  readonly session: string
  readonly onNew: () => void
}

const isSame = (one: Draft, other: Draft) => JSON.stringify(one) === JSON.stringify(other)

/** Said at the address of a talk that is not there for this person. */
export function NoTalk({ session, onNew }: NoTalkProps) {
  const { t } = useI18n()
  const { drafts } = useConversations()
  const goOn = () => {
    // What was being written for it is not lost with it.
    const fresh = drafts.fresh(freshSession)
    const draft = drafts.read(session)
    if (!isSame(draft, NO_DRAFT) && isSame(drafts.read(fresh), NO_DRAFT)) {
      drafts.write(fresh, draft)
      drafts.write(session, NO_DRAFT)
    }
    onNew()
  }
  return (
    <Empty
      icon={<SearchX />}
      title={t('studio.gone')}
      text={t('studio.gone.text')}
      action={
        <Button icon={<SquarePen size={16} aria-hidden />} onClick={goOn}>
          {t('studio.new')}
        </Button>
      }
    />
  )
}
