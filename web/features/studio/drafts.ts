import type { TalkFile } from '../../api/talks.ts'
import { keep } from '../../lib/kept.ts'
import { isTemporary } from './fresh.ts'

/** A file beside the question that is being written. */
export interface Attachment {
  readonly key: number
  readonly name: string
  /** What was sent of it, from 0 to 1. */
  readonly share: number
  /** What the server says of it; null while it is on its way. */
  readonly file: TalkFile | null
  /** Why it cannot be asked about; null without a reason. */
  readonly problem: string | null
}

/** A question that was typed and not sent. */
export interface Draft {
  readonly text: string
  readonly images: readonly string[]
  readonly files: readonly Attachment[]
  /** The collections that it is asked of; empty: all that the assistant sees. */
  readonly collections: readonly string[]
}

export type ChangeDraft = (how: (before: Draft) => Partial<Draft>) => void

const PREFIX = 'mb.draft.'
const FRESH = 'mb.fresh'
export const NO_DRAFT: Draft = { text: '', images: [], files: [], collections: [] }

/**
 * Drafts by session. Texts but temporary ones outlive a reload and the end of the sign-in; what is
 * beside them, which may be too large for the storage, goes with the page.
 */
export function createDrafts(storage: Storage) {
  const held = new Map<string, Draft>()
  const listeners = new Set<() => void>()
  let fresh = storage.getItem(FRESH)

  function setFresh(session: string | null): void {
    fresh = session
    keep(FRESH, session, storage)
  }

  function read(session: string): Draft {
    const text = storage.getItem(PREFIX + session)
    const draft = held.get(session) ?? (text === null ? NO_DRAFT : { ...NO_DRAFT, text })
    held.set(session, draft)
    return draft
  }

  function write(session: string, draft: Draft): void {
    held.set(session, draft)
    if (!isTemporary(session)) keep(PREFIX + session, draft.text || null, storage)
    for (const listener of listeners) listener()
  }

  const isEmpty = ({ text, images, files }: Draft) => !text && images.length + files.length === 0

  return {
    read,
    write,
    /** Takes what is written for a talk that is not there to the next new one, if that is empty. */
    carry(session: string, make: () => string): void {
      const to = this.fresh(make)
      const draft = read(session)
      if (to === session || isEmpty(draft) || !isEmpty(read(to))) return
      write(to, draft)
      write(session, NO_DRAFT)
    },
    /** Changes it wherever it is shown, and also where its page was left. */
    change: (session: string, how: (before: Draft) => Partial<Draft>) =>
      write(session, { ...read(session), ...how(read(session)) }),
    /**
     * The id for a new conversation; it stays the same, with its draft, until the first question.
     */
    fresh(make: () => string): string {
      const session = fresh ?? make()
      setFresh(session)
      return session
    },
    isFresh: (session: string): boolean => fresh === session,
    /** To be called when the session has its first question. */
    used(session: string): void {
      if (fresh === session) setFresh(null)
    },
    clear(): void {
      held.clear()
      setFresh(null)
      for (const key of Object.keys(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key)
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
