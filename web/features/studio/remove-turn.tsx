import { useQuery } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { api } from '../../api/index.ts'
import { talks } from '../../api/talks.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { useConversations } from './conversations.ts'
import { useKnown } from './known.ts'
import { TalkName } from './talk-name.ts'
import type { Ways } from './use-versions.ts'

interface RemoveTurnProps {
  readonly seq: number
  /** The other ways of the talk at this turn. */
  readonly ways: Ways | undefined
  readonly onGone: (session: string | null) => void
  readonly onClose: () => void
}

/** Asks whether a turn may go, with all that came after it. Other ways of the talk stay. */
export function RemoveTurn({ seq, ways, onGone, onClose }: RemoveTurnProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const { forget, tellStored } = useConversations()
  const session = useContext(TalkName) ?? ''
  const title = useKnown(session)?.title ?? ''
  // Those that are loaded may not reach to the end.
  const newest = useQuery({
    queryKey: ['transcript', session, 'newest'],
    queryFn: () => api.sessions.transcript(session, { limit: 1 }),
    staleTime: 0,
  })
  const [isBusy, setBusy] = useState(false)
  const count = (newest.data?.turns[0]?.seq ?? seq) - seq
  const remove = async () => {
    setBusy(true)
    try {
      onGone(await restOf(session, seq, ways, title, t('studio.remove.long')))
      await talks.removeBranch(session)
      forget(session)
      await tellStored(session)
    } catch (error) {
      toasts.show('bad', error as Error)
      onClose()
    }
  }
  return (
    <Confirm
      title={t('studio.remove.title')}
      loss={t(lossOf(seq, ways, count), { count })}
      action={t('action.delete')}
      open={!newest.isPending}
      busy={isBusy || !newest.data}
      onConfirm={() => void remove()}
      onClose={onClose}
    />
  )
}

/** What goes, in words. */
const lossOf = (seq: number, ways: Ways | undefined, count: number): Key => {
  if (seq === 1 && ways === undefined) return 'studio.remove.all'
  return count === 0 ? 'studio.remove.one' : 'studio.remove.loss'
}

/**
 * The way of the talk that stays: one that has what came before anyway, or else a copy of that;
 * null where nothing came before. A branch leaves out what does not fit into it; then nothing is
 * deleted.
 */
async function restOf(
  session: string,
  seq: number,
  ways: Ways | undefined,
  title: string,
  tooLong: string,
): Promise<string | null> {
  const other = ways?.sessions[ways.here === 0 ? 1 : ways.here - 1]
  if (other !== undefined) return other
  if (seq === 1) return null
  const { session_id } = await talks.branch(session, seq - 1)
  const { turns } = await api.sessions.transcript(session_id, { limit: 1, before: 2 })
  if (turns.length === 0) {
    await talks.removeBranch(session_id)
    throw new Error(tooLong)
  }
  // It would be called a second one of what is gone.
  if (title) await api.conversations.rename(session_id, title).catch(() => {})
  return session_id
}
