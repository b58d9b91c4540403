import { Ghost } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/page.tsx'
import { useConversations } from './conversations.ts'
import { freshSession, isTemporary, temporarySession } from './fresh.ts'

interface TemporaryProps {
  readonly isEmpty: boolean
  readonly session: string
  readonly onSession: (session: string) => void
}

/** Whether the talk is stored: a switch before its first question, and then a mark. */
export function Temporary({ isEmpty, session, onSession }: TemporaryProps) {
  const { t } = useI18n()
  const { drafts } = useConversations()
  const isOn = isTemporary(session)
  const icon = { size: 17, 'aria-hidden': true } as const
  if (!isEmpty) {
    if (!isOn) return null
    return (
      <Badge tone="accent" icon={<Ghost size={14} aria-hidden />} title={t('temporary.text')}>
        {t('temporary.mark')}
      </Badge>
    )
  }
  return (
    <Button
      kind="quiet"
      icon={<Ghost {...icon} />}
      aria-label={t('temporary.switch')}
      aria-pressed={isOn}
      onClick={() => onSession(isOn ? drafts.fresh(freshSession) : temporarySession())}
    />
  )
}
