import { createContext, useContext, useSyncExternalStore } from 'react'
import type { streamTurn, TurnRequest } from '../../api/stream.ts'
import { createDrafts } from './drafts.ts'
import { gatherFrames } from './frames.ts'
import { afterEvents, broken, cut, type Replaced, type Turn } from './turn.ts'
import { createTurnStore } from './turn-store.ts'

interface Options {
  readonly stream: typeof streamTurn
  /** Keeps drafts, and turns that the server did not store, over a reload. */
  readonly storage: Storage
}

/** A conversation, and the app that answers in it. */
export interface Place {
  readonly session: string
  readonly app: string
  /** The number of the turn to show, such as one that a search found. */
  readonly turn?: number
}

const OWNER = 'mb.owner'

/**
 * The conversations of this tab, outside React: an answer continues while another page is open;
 * only `stop` ends it.
 */
export function createConversations({ stream, storage }: Options) {
  const turns = createTurnStore(storage)
  const drafts = createDrafts(storage)
  let last: Place | null = null
  const running = new Map<string, AbortController>()
  const stored = new Set<(session: string) => Promise<void>>()

  /** Notifies the views of a session that a turn was stored; resolves when they have reloaded. */
  const tellStored = async (session: string) => {
    await Promise.all([...stored].map((listener) => listener(session)))
  }

  /**
   * Sends a question. Resolves with the turn when it has ended in any way; with null when another
   * turn of the session is being answered.
   */
  async function send(asked: TurnRequest, replaces: Replaced | null = null): Promise<Turn | null> {
    const request = replaces ? { ...asked, replace_last: true } : asked
    const { session_id: session } = request
    if (running.has(session)) return null
    const abort = new AbortController()
    running.set(session, abort)
    last = { session, app: request.app_id ?? '' }
    drafts.used(session)
    const id = turns.add(session, { ...request, replaces })
    const frames = gatherFrames((batches) =>
      turns.change(session, id, (turn) =>
        batches.reduce((before, { events, at }) => afterEvents(before, events, at), turn),
      ),
    )
    let how = cut
    try {
      for await (const events of stream(request, abort.signal)) frames.add(events)
    } catch (error) {
      const { aborted } = abort.signal
      how = (turn) => (aborted ? { ...turn, state: 'stopped' } : broken(turn, error))
    }
    frames.flush()
    running.delete(session)
    turns.change(session, id, how)
    const turn = turns.turnsOf(session).find((one) => one.id === id) ?? null
    const isStored = turn?.state === 'done'
    turns.keepUnsaved()
    // Before that the list has the replaced turn, and the new number may be unknown.
    if (isStored) {
      void tellStored(session).then(() => replaces && turns.drop(session, replaces.id))
    }
    return turn
  }

  function forget(session: string): void {
    running.get(session)?.abort()
    if (last?.session === session) last = null
    turns.forget(session)
    turns.keepUnsaved()
  }

  return {
    ...turns,
    drafts,
    send,
    tellStored,
    forget,
    isAnswering: (session?: string) =>
      session === undefined ? running.size > 0 : running.has(session),
    stop: (session: string) => running.get(session)?.abort(),
    /** The last place of this tab; null at first. */
    last: () => last,
    visit: (place: Place) => {
      last = place
    },
    /** Deletes turns and drafts of another person, because a browser may be shared. */
    own(person: string): void {
      const before = storage.getItem(OWNER)
      if (before !== null && before !== person) {
        for (const session of turns.sessions()) forget(session)
        drafts.clear()
      }
      storage.setItem(OWNER, person)
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

/** Whether a session, or without one any session, is being answered in this tab. */
export function useAnswering(session?: string): boolean {
  const { subscribe, isAnswering } = useConversations()
  return useSyncExternalStore(subscribe, () => isAnswering(session))
}
