import { CornerDownRight, Pencil, SendHorizontal, X } from 'lucide-react'
import { useContext, useSyncExternalStore } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { type Presence, PresenceContext } from '../../lib/presence.ts'
import { Button } from '../../ui/button.tsx'
import { useConversations, useLine } from './conversations.ts'
import type { Waiting } from './queue.ts'

interface QueueListProps {
  readonly session: string
  readonly running: boolean
  /** Called with a question that was taken out, to be written anew. */
  readonly onEdit: (question: Waiting) => void
}

/** The questions that wait, with what can be done with each. */
export function QueueList({ session, running, onEdit }: QueueListProps) {
  const { t } = useI18n()
  const { queue, sendNow } = useConversations()
  const { waiting, isHeld } = useLine(session)
  const isAway = useAway()
  const isEmpty = waiting.length === 0
  const waits = t(running ? 'studio.queued' : 'studio.queue.away')
  return (
    <section
      className={isEmpty ? 'sr-only' : 'queue'}
      aria-label={isEmpty ? undefined : t('studio.queue')}
    >
      {/* Always there: a region that comes with its words in it is not heard. */}
      <p className="text-mini text-ink-3" role="status">
        {isEmpty ? '' : isHeld ? t('studio.queue.held') : waits}
      </p>
      <ul>
        {waiting.map((one) => (
          <Row
            key={one.id}
            question={one}
            onEdit={() => {
              queue.drop(session, one.id)
              onEdit(one)
            }}
            onNow={isAway ? null : () => sendNow(one)}
            onDrop={() => queue.drop(session, one.id)}
          />
        ))}
      </ul>
    </section>
  )
}

const useAway = (): boolean => {
  const presence = useContext(PresenceContext) as Presence
  return useSyncExternalStore(presence.subscribe, presence.isAway)
}

interface RowProps {
  readonly question: Waiting
  readonly onEdit: () => void
  /** Null while the server is away. */
  readonly onNow: (() => void) | null
  readonly onDrop: () => void
}

function Row({ question: { request, names }, onEdit, onNow, onDrop }: RowProps) {
  const { t } = useI18n()
  const icon = { size: 15, 'aria-hidden': true } as const
  const quiet = { kind: 'quiet', size: 'small' } as const
  const count = names.length + request.images.length
  const what = { text: request.text }
  return (
    <li className="queue-row">
      <CornerDownRight {...icon} className="flex-none text-ink-3" />
      <span className="min-w-0 flex-1 truncate">{request.text}</span>
      {count > 0 && (
        <span className="text-mini text-ink-3">{t('studio.queue.files', { count })}</span>
      )}
      <Button
        {...quiet}
        icon={<Pencil {...icon} />}
        aria-label={t('studio.queue.edit', what)}
        onClick={onEdit}
      />
      {onNow && (
        <Button
          {...quiet}
          icon={<SendHorizontal {...icon} />}
          aria-label={t('studio.queue.now', what)}
          onClick={onNow}
        />
      )}
      <Button
        {...quiet}
        icon={<X {...icon} />}
        aria-label={t('studio.queue.drop', what)}
        onClick={onDrop}
      />
    </li>
  )
}
