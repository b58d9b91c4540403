import { useEffect, useMemo, useRef, useState } from 'react'
import type { TurnRequest } from '../../api/stream.ts'
import { talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { useToasts } from '../../lib/services.tsx'
import { useStable } from '../../lib/use-stable.ts'
import type { Question } from './asked-of.ts'
import { useAnswering, useConversations, useLine, useTurns } from './conversations.ts'
import { isTemporary } from './fresh.ts'
import { createThread } from './thread.ts'
import type { Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'
import { useJump } from './use-jump.ts'
import { usePending } from './use-pending.ts'
import type { Setup } from './use-setup.ts'
import { useStored, useSummary } from './use-stored.ts'
import { useVersions } from './use-versions.ts'
import type { Wish } from './wish.ts'

/** A question, and where it looks. */
export type Asked = Question & {
  /** The collections that it is asked of; absent: all that the assistant sees. */
  readonly collections?: readonly string[]
}

type Choice = Pick<ReturnType<typeof useChosen>, 'chosen' | 'turn' | 'choose' | 'linked'>

export const namesOf = (files: Question['files'] = []): string[] => files.map(({ name }) => name)

/** What is sent for a question in this talk, to this assistant. */
export const requestOf = (
  session: string,
  app: string,
  asked: Setup['asked'],
  { text, images, files = [], collections = [], wish }: Asked,
): TurnRequest => ({
  text,
  images,
  ...(files.length > 0 ? { files: files.flatMap(({ id }) => id ?? []) } : {}),
  session_id: session,
  app_id: app || null,
  ...asked,
  ...(collections.length > 0 ? { collections, kb: true } : {}),
  ...wish,
  show_thinking: true,
  interactive: true,
})

/** The turns of the chosen session, and what can be done with them. */
export function useConversation(
  { chosen, turn, choose, linked }: Choice,
  { asked }: Pick<Setup, 'asked'>,
) {
  const conversations = useConversations()
  const toasts = useToasts()
  const { t } = useI18n()
  const { session, app } = chosen
  const live = useTurns(session)
  const running = useAnswering(session)
  const stored = useStored(session)
  const summary = useSummary(session)
  const { waiting } = useLine(session)
  // The server is not asked for a talk that it cannot know.
  const isNew = running || waiting.length > 0 || conversations.drafts.isFresh(session)
  const isStored = linked && !isTemporary(session) && (stored.rows.length > 0 || !isNew)
  const { interrupted, isUnknown, title } = usePending(session, isStored)
  const ways = useVersions(session, stored.rows.length > 0)
  const [thread] = useState(createThread)
  const told = useMemo(() => thread(stored.rows, live), [thread, stored.rows, live])
  const turns = useMemo(
    () => (running ? told : [...told, ...interrupted]),
    [told, running, interrupted],
  )
  useJump(turn, turns, stored)
  const begun = live.length > 0
  const named = title === undefined && !begun ? '' : title
  useEffect(() => {
    if (linked) conversations.visit({ session, app })
  }, [conversations, linked, session, app])
  const sayIn = (to: string, question: Asked) => {
    const { files = [], replaces = null } = question
    const request = requestOf(to, app, asked, question)
    return conversations.send(request, { replaces, names: namesOf(files), wish: question.wish })
  }
  const say = (question: Asked) => {
    // The first turn puts the session into the page URL.
    if (!linked) choose({})
    return sayIn(session, question)
  }
  /** Like `say`, but during an answer, and while the server is away, the question waits. */
  const ask = (question: Asked) => {
    if (!linked) choose({})
    const seen = told.findLast(({ seq }) => seq !== null)?.seq ?? 0
    conversations.ask(requestOf(session, app, asked, question), namesOf(question.files), seen)
  }
  /**
   * Asks after the turn of this number, in another way of the talk, so that nothing is overwritten.
   * Resolves with whether it was asked.
   */
  const askAfter = async (seq: number, question: Asked): Promise<boolean> => {
    try {
      const { session_id } = await talks.branchToAsk(session, seq)
      choose({ session: session_id })
      void sayIn(session_id, question)
      return true
    } catch (error) {
      toasts.show('bad', error as Error)
      return false
    }
  }
  /** The question again, or another one in its place. One that failed keeps its wish. */
  const replace = async (turn: Turn, text: string, wish?: Wish): Promise<unknown> => {
    const { state, replaces, seq } = turn
    const { sentAgain } = await loadChunk(() => import('./sent-again.ts'))
    const { images, files, left } = await sentAgain(turn)
    for (const name of left) toasts.show('bad', t('studio.file.left', { name }))
    const question = { text, images, files }
    if (state === 'done' && seq !== null) return askAfter(seq - 1, { ...question, wish })
    if (state === 'done') return void say({ ...question, replaces: turn, wish })
    conversations.drop(session, turn.id)
    void say({ ...question, replaces, wish: wish ?? turn.wish })
  }
  const isReplacing = useRef(false)
  /** A second click is ignored until the first one's question has left. */
  const replaceOnce = (turn: Turn, text: string, wish?: Wish) => {
    if (isReplacing.current) return
    isReplacing.current = true
    void replace(turn, text, wish).finally(() => {
      isReplacing.current = false
    })
  }
  return {
    turns,
    /** Null without a turn; empty while it is asked for. */
    title: named ?? turns[0]?.text ?? null,
    /** The number of the turn that was looked for; null without one. */
    found: turn,
    /** Null until the first page is there. */
    older: stored,
    summary,
    /** Whether this person has no such talk. */
    isMissing: isUnknown && turns.length === 0,
    /** Whether it is not read yet, or could not be. */
    isAwaited: stored.data === undefined && turns.length === 0 && !isUnknown,
    isEmpty: !begun && stored.data !== undefined && turns.length === 0,
    running,
    ways,
    say,
    ask,
    askAfter,
    // One function for all turns, so that finished turns do not render again.
    replace: useStable(replaceOnce),
    stop: () => conversations.stop(session),
  }
}

export type Conversation = ReturnType<typeof useConversation>
