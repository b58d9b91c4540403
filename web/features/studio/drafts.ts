import { isTemporary } from './fresh.ts'

/** A question that was typed and not sent. */
export interface Draft {
  readonly text: string
  readonly images: readonly string[]
}

const PREFIX = 'mb.draft.'
const FRESH = 'mb.fresh'
const NOTHING: Draft = { text: '', images: [] }

/** Drafts by session. But for temporary ones they outlive a reload and the end of the sign-in. */
export function createDrafts(storage: Storage) {
  /** Drafts with their pictures, which may be too large for the storage. */
  const held = new Map<string, Draft>()
  const kept = (session: string): Draft => {
    const text = storage.getItem(PREFIX + session)
    return text === null ? NOTHING : { text, images: [] }
  }
  return {
    read: (session: string): Draft => held.get(session) ?? kept(session),
    write(session: string, draft: Draft): void {
      held.set(session, draft)
      if (isTemporary(session)) return
      try {
        if (draft.text === '') storage.removeItem(PREFIX + session)
        else storage.setItem(PREFIX + session, draft.text)
      } catch {
        // The storage is full: only this page has the draft.
      }
    },
    /**
     * The id for a new conversation; it stays the same, with its draft, until the first question.
     */
    fresh(make: () => string): string {
      const session = storage.getItem(FRESH) ?? make()
      storage.setItem(FRESH, session)
      return session
    },
    isFresh: (session: string): boolean => storage.getItem(FRESH) === session,
    /** To be called when the session has its first question. */
    used(session: string): void {
      if (storage.getItem(FRESH) === session) storage.removeItem(FRESH)
    },
    clear(): void {
      held.clear()
      storage.removeItem(FRESH)
      for (const key of Object.keys(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key)
    },
  }
}
