/** What was typed and not sent. */
export interface Draft {
  readonly text: string
  readonly images: readonly string[]
}

const PREFIX = 'mb.draft.'
const FRESH = 'mb.fresh'
const NOTHING: Draft = { text: '', images: [] }

/** Drafts by session. They outlive the page, a reload and the end of the sign-in. */
export function createDrafts(storage: Storage) {
  /** With the pictures, which may be too large for the storage. */
  const held = new Map<string, Draft>()
  const kept = (session: string): Draft => {
    const text = storage.getItem(PREFIX + session)
    return text === null ? NOTHING : { text, images: [] }
  }
  return {
    read: (session: string): Draft => held.get(session) ?? kept(session),
    write(session: string, draft: Draft): void {
      held.set(session, draft)
      try {
        if (draft.text === '') storage.removeItem(PREFIX + session)
        else storage.setItem(PREFIX + session, draft.text)
      } catch {
        // A full storage: the draft is held by this page alone.
      }
    },
    /** The session for a new conversation: the same until its first question, as is its draft. */
    fresh(make: () => string): string {
      const session = storage.getItem(FRESH) ?? make()
      storage.setItem(FRESH, session)
      return session
    },
    /** The session has its first question. */
    used(session: string): void {
      if (storage.getItem(FRESH) === session) storage.removeItem(FRESH)
    },
    clear(): void {
      held.clear()
      for (const key of Object.keys(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key)
    },
  }
}
