import { useEffect, useMemo, useRef, useState } from 'react'
import type { TurnRequest } from '../../api/stream.ts'
import { talks } from '../../api/talks.ts'
import { useToasts } from '../../lib/services.tsx'
import { useStable } from '../../lib/use-stable.ts'
import { useAnswering, useConversations, useLine, useTurns } from './conversations.ts'
import { isTemporary } from './fresh.ts'
import { sentAgain } from './images.ts'
import { createThread } from './thread.ts'
import type { Question, Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'
import { useJump } from './use-jump.ts'
import { usePending } from './use-pending.ts'
import type { Setup } from './use-setup.ts'
import { useStored, useSummary } from './use-stored.ts'
import { useVersions } from './use-versions.ts'
import type { Wish } from './wish.ts'

/** A question, with the files that the server has been sent, and where it looks. */
export type Asked = Question & {
  readonly fileIds?: readonly string[]
  /** The collections that it is asked of; absent: all that the assistant sees. */
  readonly collections?: readonly string[]
}

type Choice = Pick<ReturnType<typeof useChosen>, 'chosen' | 'turn' | 'choose' | 'linked'>

/** What is sent for a question in this talk, to this assistant. */
export const requestOf = (
  session: string,
  app: string,
  asked: Setup['asked'],
  { text, images, fileIds = [], collections = [], wish }: Asked,
): TurnRequest => ({
  text,
  images,
  ...(fileIds.length > 0 ? { files: fileIds } : {}),
  session_id: session,
  app_id: app || null,
  ...asked,
  ...(collections.length > 0 ? { collections, kb: true } : {}),
  ...wish,
  show_thinking: true,
  interactive: true,
})

/** What waits, and whether the server cannot know this talk yet, and is not asked for it. */
function useUnsent(session: string, running: boolean) {
  const { drafts } = useConversations()
  const { waiting, isHeld } = useLine(session)
  const isNew = running || (waiting.length > 0 && !isHeld) || drafts.isFresh(session)
  return { waiting, isNew }
}

/** The turns of the chosen session, and what can be done with them. */
export function useConversation(
  { chosen, turn, choose, linked }: Choice,
  { asked }: Pick<Setup, 'asked'>,
) {
  const conversations = useConversations()
  const toasts = useToasts()
  const { session, app } = chosen
  const live = useTurns(session)
  const running = useAnswering(session)
  const stored = useStored(session)
  const summary = useSummary(session)
  const { waiting, isNew } = useUnsent(session, running)
  const isStored = linked && !isTemporary(session) && (stored.rows.length > 0 || !isNew)
  const { interrupted, isUnknown } = usePending(session, isStored)
  const ways = useVersions(session, stored.rows.length > 0)
  const [thread] = useState(createThread)
  // Of a talk that was deleted elsewhere, what was never stored is left.
  const isGone = isUnknown && stored.rows.length === 0
  const told = useMemo(
    () => thread(stored.rows, live).filter(({ seq }) => !isGone || seq === null),
    [thread, stored.rows, live, isGone],
  )
  const turns = useMemo(
    () => (running ? told : [...told, ...interrupted]),
    [told, running, interrupted],
  )
  useJump(turn, turns, stored)
  const tell = (error: Error) => toasts.show('bad', error)
  useEffect(() => {
    if (linked) conversations.visit({ session, app })
  }, [conversations, linked, session, app])
  const sayIn = (to: string, question: Asked) => {
    const { files = [], replaces = null } = question
    const request = requestOf(to, app, asked, question)
    return conversations.send(request, { replaces, names: files, wish: question.wish })
  }
  const say = (question: Asked) => {
    // The first turn puts the session into the page URL.
    if (!linked) choose({})
    return sayIn(session, question)
  }
  const askIn = (to: string, question: Asked, seen: number) =>
    conversations.ask(requestOf(to, app, asked, question), {
      names: question.files ?? [],
      wish: question.wish,
      seen,
    })
  /** Like `say`, but during an answer, and while the server is away, the question waits. */
  const ask = (question: Asked) => {
    if (!linked) choose({})
    askIn(session, question, told.findLast(({ seq }) => seq !== null)?.seq ?? 0)
  }
  /**
   * Asks after the turn of this number, in another way of the talk, so that nothing is overwritten.
   * Resolves with whether it was asked.
   */
  const askAfter = async (seq: number, question: Asked): Promise<boolean> => {
    try {
      const { session_id } = await talks.branch(session, seq)
      choose({ session: session_id })
      askIn(session_id, question, seq)
      return true
    } catch (error) {
      tell(error as Error)
      return false
    }
  }
  /** The question again, or another one in its place. One that failed keeps its wish. */
  const replace = async (turn: Turn, text: string, wish?: Wish): Promise<boolean> => {
    const { state, replaces, seq } = turn
    // A picture that cannot be had any more is left out.
    const images = await sentAgain(turn.images)
    if (state === 'done' && seq !== null) return askAfter(seq - 1, { text, images, wish })
    if (state !== 'done') conversations.drop(session, turn.id)
    const again = { text, images, wish: wish ?? (state === 'done' ? undefined : turn.wish) }
    const before = state === 'done' ? turn : replaces
    if (before) void say({ ...again, replaces: before })
    else ask(again)
    return true
  }
  const isReplacing = useRef(false)
  /** A second click is ignored until the first one's question has left. */
  const replaceOnce = async (turn: Turn, text: string, wish?: Wish): Promise<boolean> => {
    if (isReplacing.current) return false
    isReplacing.current = true
    try {
      return await replace(turn, text, wish)
    } finally {
      isReplacing.current = false
    }
  }
  return {
    turns,
    /** The number of the turn that was looked for; null without one. */
    found: turn,
    /** Null until the first page is there. */
    older: stored,
    summary,
    /** Whether this person has no such talk. */
    isMissing: isUnknown && turns.length + waiting.length === 0,
    isEmpty: live.length === 0 && stored.data !== undefined && turns.length === 0,
    running,
    ways,
    say,
    ask,
    askAfter,
    // One function for all turns, so that finished turns do not render again.
    replace: useStable(replaceOnce),
    stop: () => void conversations.stop(session).catch(tell),
  }
}

export type Conversation = ReturnType<typeof useConversation>
