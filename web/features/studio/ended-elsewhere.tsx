import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { tellBeside } from '../../lib/browser-notice.ts'
import { useToasts } from '../../lib/services.tsx'
import { CHAT } from '../../shell/nav.ts'
import { useConversations } from './conversations.ts'
import { knownIn } from './known.ts'
import type { Turn } from './turn.ts'
import { isUnreached } from './turn-end.ts'

const TITLE_CHARS = 40

const shortened = (text: string) =>
  text.length > TITLE_CHARS ? `${text.slice(0, TITLE_CHARS - 1)}…` : text

/** Where a talk is shown; who answers in it is known of those that a list has. */
function placeOf(queries: QueryClient, session: string) {
  const app = knownIn(queries, session)?.app_id
  return { ...(app ? { app } : {}), session }
}

/**
 * Tells when an answer ends in another talk than the one that is shown, and leads there; beside a
 * page that nobody looks at, the browser tells it of each talk.
 */
export function EndedElsewhere() {
  const { t } = useI18n()
  const toasts = useToasts()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { endings } = useConversations()
  const shown = useLocation({
    select: ({ pathname, search }) => {
      const { session, beside } = search as { session?: unknown; beside?: unknown }
      return pathname.replace(/\/$/, '') === CHAT ? `${session ?? ''} ${beside ?? ''}` : ''
    },
  })
  const onEnded = useEffectEvent((session: string, turn: Turn) => {
    // A stop was the person's own, and a question that never left waits.
    if (turn.state === 'stopped' || turn.isStopped || isUnreached(turn)) return
    const isGood = turn.state === 'done'
    const title = shortened(turn.text)
    const text = t(isGood ? 'studio.ended' : 'studio.broke', { title })
    if (document.hidden) tellBeside(session, text)
    if (shown.split(' ').includes(session)) return
    endings.mark(session)
    toasts.show(isGood ? 'good' : 'bad', text, {
      label: t('studio.ended.show'),
      run: () => void navigate({ to: CHAT, search: placeOf(queries, session) }),
    })
  })
  useEffect(() => endings.onEnded(onEnded), [endings])
  useEffect(() => {
    for (const session of shown.split(' ')) endings.see(session)
  }, [endings, shown])
  return null
}
