import type { CitedPassage, Source } from '../api/visitor.ts'

export interface Said {
  readonly text: string
  readonly reply: string
  readonly sources: readonly Source[]
  /** Absent in what an earlier version of this page has kept. */
  readonly passages?: readonly CitedPassage[]
  /** The number of the turn; null or absent when it was not stored. */
  readonly seq?: number | null
  readonly rating?: number
}

/** The conversation of a share's visitor; it stays in this tab of their browser. */
interface Talk {
  readonly session: string
  readonly said: readonly Said[]
}

const KEPT_MAX = 50
const STORE = `moonbase ${location.pathname}`

export function newTalk(): Talk {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const name = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return { session: `share-${name}`, said: [] }
}

/** A browser may refuse to keep anything for a page inside another site. */
export function load(): Talk {
  try {
    return (JSON.parse(sessionStorage.getItem(STORE) ?? 'null') as Talk | null) ?? newTalk()
  } catch {
    return newTalk()
  }
}

/** Keeps the newest turns for a reload of the page. */
export function keep({ session, said }: Talk): void {
  try {
    sessionStorage.setItem(STORE, JSON.stringify({ session, said: said.slice(-KEPT_MAX) }))
  } catch {
    // Without storage the conversation ends with the page.
  }
}
