import { useRef } from 'react'
import type { TurnRequest } from '../../api/stream.ts'
import { talks } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { useToasts } from '../../lib/services.tsx'
import { useStable } from '../../lib/use-stable.ts'
import type { Question } from './asked-of.ts'
import { useConversations } from './conversations.ts'
import { questionName } from './fresh.ts'
import type { Turn } from './turn.ts'
import { isUnheard } from './turn-end.ts'
import type { useChosen } from './use-chosen.ts'
import type { Setup } from './use-setup.ts'
import type { Wish } from './wish.ts'

/** A question, and where it looks. */
export type Asked = Question & {
  /** The collections that it is asked of; absent: all that the assistant sees. */
  readonly collections?: readonly string[]
  /** The name of its turn, where it was asked before. */
  readonly turnId?: string | null
}

export const namesOf = (files: Question['files'] = []): string[] => files.map(({ name }) => name)

/** What is sent for a question in this talk, to this assistant. */
export const requestOf = (
  session: string,
  app: string,
  asked: Setup['asked'],
  { text, images, files = [], collections = [], wish, turnId }: Asked,
): TurnRequest => ({
  turn_id: turnId ?? questionName(),
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

interface AskingOptions
  extends Pick<ReturnType<typeof useChosen>, 'chosen' | 'choose' | 'linked'>,
    Pick<Setup, 'asked'> {}

/** The ways to ask in the chosen session. */
export function useAsking({ chosen, choose, linked, asked }: AskingOptions) {
  const conversations = useConversations()
  const toasts = useToasts()
  const { t } = useI18n()
  const { session, app } = chosen
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
  const askIn = (to: string, question: Asked) =>
    conversations.ask(requestOf(to, app, asked, question), {
      names: namesOf(question.files),
      wish: question.wish,
    })
  /** Like `say`, but during an answer, and while the server is away, the question waits. */
  const ask = (question: Asked) => {
    if (!linked) choose({})
    askIn(session, question)
  }
  /**
   * Asks after the turn of this number, in another way of the talk, so that nothing is overwritten.
   * Resolves with whether it was asked.
   */
  const askAfter = async (seq: number, question: Asked): Promise<boolean> => {
    try {
      const { session_id } = await talks.branch(session, seq)
      choose({ session: session_id })
      askIn(session_id, question)
      return true
    } catch (error) {
      toasts.show('bad', error as Error)
      return false
    }
  }
  /** The pictures and files of a turn, as far as they are still there. */
  const carried = async (turn: Turn): Promise<Pick<Turn, 'images' | 'files'>> => {
    if (turn.images.length + turn.files.length === 0) return { images: [], files: [] }
    const { sentAgain } = await loadChunk(() => import('./sent-again.ts'))
    const { images, files, left } = await sentAgain(turn)
    for (const name of left) toasts.show('bad', t('studio.file.left', { name }))
    return { images, files }
  }
  /** The question again, or another one in its place. One that failed keeps its wish. */
  const replace = async (turn: Turn, text: string, wish?: Wish): Promise<boolean> => {
    const { state, replaces, seq } = turn
    // By its name it is taken once, whether it arrived or not.
    const isSame = isUnheard(turn) && text === turn.text && wish === undefined
    const question = { text, ...(await carried(turn)), turnId: isSame ? turn.turnId : null }
    if (state === 'done' && seq !== null) return askAfter(seq - 1, { ...question, wish })
    if (state !== 'done') conversations.drop(session, turn.id)
    const again = { ...question, wish: wish ?? (state === 'done' ? undefined : turn.wish) }
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
    } catch (error) {
      toasts.show('bad', error as Error)
      return false
    } finally {
      isReplacing.current = false
    }
  }
  return {
    say,
    ask,
    askAfter,
    // One function for all turns, so that finished turns do not render again.
    replace: useStable(replaceOnce),
  }
}
