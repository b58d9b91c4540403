import { createContext, useContext, useMemo, useSyncExternalStore } from 'react'
import type { followTurn, streamTurn, TurnRequest } from '../../api/stream.ts'
import type { Pending, Talk, talks } from '../../api/talks.ts'
import { keep } from '../../lib/kept.ts'
import { type Replaced, sentFiles } from './asked-of.ts'
import { createAsking } from './asking.ts'
import { createDrafts } from './drafts.ts'
import { createEndings } from './endings.ts'
import { isTemporary } from './fresh.ts'
import { type Beside, createQueue, type Line } from './queue.ts'
import { broughtIn } from './temporary-turns.ts'
import type { Turn } from './turn.ts'
import { createTurnRunner } from './turn-runner.ts'
import { createTurnStore } from './turn-store.ts'
import type { Wish } from './wish.ts'

interface Options {
  readonly stream: typeof streamTurn
  readonly follow: typeof followTurn
  readonly turns: Pick<typeof talks, 'stop' | 'pending'>
  /** Whether the server is known to be out of reach. */
  readonly isAway: () => boolean
  /** Resolves when a broken stream may be taken up again. */
  readonly pause: () => Promise<void>
  /** Keeps drafts, and turns that the server did not store, over a reload. */
  readonly storage: Storage
}

/** A conversation, and the app that answers in it. */
export interface Place {
  readonly session: string
  readonly app: string
  /** The number of the turn to show, such as one that a search found. */
  readonly turn?: number
  /** The talk beside it, when two are compared; its session is empty before the first question. */
  readonly beside?: { readonly session: string; readonly app: string } | null
}

interface SentQuestion {
  readonly replaces?: Replaced | null
  /** Names of the files beside the question. */
  readonly names?: readonly string[]
  readonly wish?: Wish | undefined
}

const OWNER = 'mb.person'
const OPEN_TITLE_CHARS = 60

/**
 * The conversations of this tab, outside React: an answer continues while another page is open, and
 * one that the server has named goes on without this tab.
 */
export function createConversations(options: Options) {
  const { stream, follow, turns: server, isAway, pause, storage } = options
  const turns = createTurnStore(storage)
  const drafts = createDrafts(storage)
  let last: Place | null = null
  let owner = storage.getItem(OWNER)
  const stored = new Set<(session: string) => Promise<void>>()

  /** Notifies the views of a session that a turn was stored; resolves when they have reloaded. */
  const tellStored = async (session: string) => {
    await Promise.all([...stored].map((listener) => listener(session)))
  }
  const queue = createQueue(storage)
  const endings = createEndings()
  const onEnd = (session: string, turn: Turn | null) => {
    asking.ended(session, turn)
    if (turn) endings.tell(session, turn)
  }
  const runner = createTurnRunner({ turns, follow, pause, server, tellStored, onEnd })
  const { running } = runner
  const asking = createAsking({
    queue,
    turns,
    isAway,
    isRunning: (session) => running.has(session),
    send,
    stop: (session) => void runner.stop(session).catch(() => {}),
  })

  /**
   * Sends a question. Resolves with the turn when it has ended in any way; with null when another
   * turn of the session is being answered.
   */
  async function send(asked: TurnRequest, question: SentQuestion = {}): Promise<Turn | null> {
    const { replaces = null, names = [], wish } = question
    const { session_id: session } = asked
    if (running.has(session)) return null
    const brought = broughtIn(session, turns.turnsOf(session), replaces)
    const replacing = replaces ? { replace_last: true } : {}
    const request = { ...asked, ...brought, ...replacing }
    const abort = new AbortController()
    last = { session, app: request.app_id ?? '' }
    drafts.used(session)
    const files = sentFiles(names, request.files)
    const turnId = request.temporary ? null : request.turn_id
    const id = turns.add(session, { ...request, files, replaces, wish }, { turnId })
    return runner.run(session, { abort, id, from: 'here' }, stream(request, abort.signal))
  }

  function forget(session: string): void {
    running.get(session)?.abort.abort()
    if (last?.session === session) last = null
    turns.forget(session)
    endings.see(session)
    turns.keepUnsaved()
    queue.forget(session)
  }

  return {
    ...turns,
    drafts,
    queue,
    endings,
    send,
    /** Sends a question as soon as nothing is before it. */
    ask(request: TurnRequest, more: Beside): void {
      drafts.used(request.session_id)
      asking.ask(request, more)
    },
    sendNow: asking.sendNow,
    sendWaiting: asking.resume,
    /** Reads a turn that was asked elsewhere, or here without an answer. */
    attach(session: string, turn: Pending): void {
      if (runner.attach(session, turn)) queue.drop(session, turn.turn_id)
    },
    resume: runner.resume,
    stop: runner.stop,
    wishOf: runner.wishOf,
    tellStored,
    forget,
    isAnswering: (session?: string) =>
      session === undefined ? running.size > 0 : running.has(session),
    /** The last place of this tab; null at first. */
    last: () => last,
    visit: (place: Place) => {
      if (last?.session !== place.session) turns.keepPictures(place.session)
      last = place
    },
    /**
     * Deletes turns and drafts of another person, because a browser may be shared; true when
     * another one was here before.
     */
    own(person: string): boolean {
      const isOther = owner !== null && owner !== person
      if (isOther) {
        for (const session of [...turns.sessions(), ...queue.sessions()]) forget(session)
        drafts.clear()
        last = null
      }
      owner = person
      keep(OWNER, person, storage)
      return isOther
    },
    onStored: (listener: (session: string) => Promise<void>) => void stored.add(listener),
  }
}

export type Conversations = ReturnType<typeof createConversations>

export const ConversationsContext = createContext<Conversations | null>(null)

export function useConversations(): Conversations {
  const conversations = useContext(ConversationsContext)
  if (!conversations) throw new Error('useConversations outside its provider')
  return conversations
}

export function useTurns(session: string): readonly Turn[] {
  const { subscribe, turnsOf } = useConversations()
  return useSyncExternalStore(subscribe, () => turnsOf(session))
}

/** The questions of a session that wait. */
export function useLine(session: string): Line {
  const { queue } = useConversations()
  return useSyncExternalStore(queue.subscribe, () => queue.lineOf(session))
}

/** Whether a session, or without one any session, is being answered in this tab. */
export function useAnswering(session?: string): boolean {
  const { subscribe, isAnswering } = useConversations()
  return useSyncExternalStore(subscribe, () => isAnswering(session))
}

/** Whether an answer of this session has ended while another talk was shown. */
export function useUnseen(session: string): boolean {
  const { endings } = useConversations()
  return useSyncExternalStore(endings.subscribe, () => endings.isUnseen(session))
}

/** Talks that are being answered in this tab, also those that no list has yet. */
export function useOpenTalks(): readonly Talk[] {
  const { subscribe, isAnswering, sessions, turnsOf } = useConversations()
  const known = useSyncExternalStore(subscribe, () =>
    JSON.stringify(
      sessions()
        .filter((id) => isAnswering(id) && !isTemporary(id))
        .map((id) => [id, turnsOf(id)[0]?.text ?? '', turnsOf(id)[0]?.at ?? 0]),
    ),
  )
  return useMemo(
    () =>
      (JSON.parse(known) as [string, string, number][]).map(([id, text, at]) => ({
        id,
        title: text.slice(0, OPEN_TITLE_CHARS),
        turn_count: 0,
        last_at: new Date(at).toISOString(),
        app_id: null,
        device_id: null,
        folder: null,
        pinned: false,
        archived: false,
      })),
    [known],
  )
}
