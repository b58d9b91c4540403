import type { Principal } from '../../core/principal.ts'
import type { KeptTurn, TranscriptStore } from './conversation-store.ts'
import type { TranscriptTurn, TurnDetails } from './model.ts'

export interface TranscriptPage {
  /** Turns with smaller numbers only. */
  readonly before: number
  readonly limit: number
}

/** What was said in a session, as long as the session is there. */
export function createTranscripts({ store }: { store: TranscriptStore }) {
  /** One at a time, because a reply may have two million characters. */
  async function* read(principal: Principal, id: string, numbers: readonly number[]) {
    for (const seq of numbers) {
      const turn = await store.turn(principal.tenantId, id, seq)
      if (turn) yield turnOf(turn, principal)
    }
  }

  return {
    /** Newest first. An app's key sees what its app answered in sessions of its own. */
    async page(principal: Principal, id: string, { before, limit }: TranscriptPage) {
      const appId = principal.kind === 'app' ? principal.appId : null
      const more = { appId, before, limit: limit + 1 }
      const numbers = await store.numbers(principal.tenantId, id, more)
      const shown = numbers.slice(0, limit)
      const next_before = numbers.length > limit ? (shown.at(-1) ?? null) : null
      return { turns: read(principal, id, shown), next_before }
    },
  }
}

export type Transcripts = ReturnType<typeof createTranscripts>

function turnOf({ details, ...turn }: KeptTurn, { kind }: Principal): TranscriptTurn {
  const known = details === null ? null : (JSON.parse(details) as TurnDetails)
  return { ...turn, details: known && (kind === 'session' ? known : withoutContent(known)) }
}

/** What the model reasoned, and what tools were given, is for the people who set them up. */
function withoutContent({ kb: _, thinking: _thought, builtin: _is, ...details }: TurnDetails) {
  return { ...details, tools: details.tools.map(({ name, ok, ms }) => ({ name, ok, ms })) }
}
