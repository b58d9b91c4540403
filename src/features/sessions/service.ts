import { ANONYMOUS } from '../../core/fields.ts'
import { MEMORY_CHARS_MAX, MEMORY_TURNS_MAX } from '../../core/limits/contract.ts'
import { SESSION_UNITS_MAX } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import { personGiver } from '../../core/rating.ts'
import { charCount } from '../../core/text.ts'
import { beginning, checkTurn, GONE, isSeen, scopeOf } from './access.ts'
import type { HistoryResponse, Message, SessionRow, TranscriptTurn, TurnDetails } from './model.ts'
import type { FinishedTurn, Memory, SessionStore, StoredTurn } from './store.ts'
import type { KeptTurn, TranscriptStore } from './transcript-store.ts'

const messagesOf = (turns: readonly StoredTurn[]): Message[] =>
  turns.flatMap(({ user_text, reply }): Message[] => [
    { role: 'user', content: user_text },
    { role: 'assistant', content: reply },
  ])

/** The session index, the history of a session and its deletion. */
export function createSessions({ store }: { store: SessionStore }) {
  const hearers: ((tenantId: string, id: string) => Promise<void>)[] = []

  return {
    /** Most recently active first. `since` is inclusive and compared as text. */
    async list(
      principal: Principal,
      since: string,
      limit: number,
    ): Promise<{ sessions: SessionRow[] }> {
      return { sessions: await store.list(scopeOf(principal), since, limit) }
    },

    /** Calls `hear` for each session that is deleted. */
    onRemoved(hear: (tenantId: string, id: string) => Promise<void>): void {
      hearers.push(hear)
    },

    /** The verbatim turns and the summary of the older ones; empty for an unknown session. */
    async history(principal: Principal, id: string): Promise<HistoryResponse> {
      const memory = await store.memory(principal.tenantId, id)
      const seen = memory && isSeen(principal, memory.owner) ? memory : null
      const messages = messagesOf(seen?.turns ?? [])
      return { messages, summary: seen?.summary ?? '', count: messages.length }
    },

    /** Throws `not_found` for a turn in a session that does not exist for the caller. */
    async checkTurn(principal: Principal, id: string): Promise<void> {
      if (principal.kind === 'general' || id === ANONYMOUS) return
      checkTurn(principal, id, await store.ownerOf(principal.tenantId, id))
    },

    /** Whether the caller may read it; true also for a session never used. */
    isSeen: async (principal: Principal, id: string): Promise<boolean> =>
      isSeen(principal, await store.ownerOf(principal.tenantId, id)),

    /**
     * Deletes turns, summary and index row. Idempotent: an unknown session, which another person's
     * is, is a success. What an earlier call has left of a deleted one goes, too.
     */
    async remove(principal: Principal, id: string): Promise<{ id: string; deleted: true }> {
      const { tenantId } = principal
      const owner = await store.ownerOf(tenantId, id)
      if (owner === GONE || (owner !== undefined && isSeen(principal, owner))) {
        await store.remove(tenantId, id)
        for (const hear of hearers) await hear(tenantId, id)
      }
      return { id, deleted: true }
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>

/** The memory of a session: its newest turns verbatim, and older ones as a rolling summary. */
export function createMemory({ store }: { store: SessionStore }) {
  return {
    recall: async (tenantId: string, sessionId: string): Promise<Memory> =>
      (await store.memory(tenantId, sessionId)) ?? { summary: '', foldedThrough: 0, turns: [] },

    /** Throws `not_found` when the session does not exist for the caller. */
    checkTurn: (principal: Principal, sessionId: string, { owner }: Memory): void =>
      checkTurn(principal, sessionId, owner),

    /** Whether no further turn fits, because folding has failed for long. */
    isFull: ({ turns }: Memory): boolean => unitsOf(turns) > SESSION_UNITS_MAX,

    /**
     * Stores a turn that was answered with the memory `before`. Once it is on disk, resolves with
     * its number, and with whether the verbatim turns are now over their limit.
     */
    async appendTurn(
      before: Memory,
      { principal, ...turn }: FinishedTurn & { readonly principal: Principal },
    ): Promise<{ readonly seq: number | null; readonly isLong: boolean }> {
      const seq = await store.appendTurn({
        ...turn,
        beginning: beginning(principal, turn.sessionId),
      })
      const after = [...before.turns, { user_text: turn.userText, reply: turn.reply }]
      return { seq, isLong: isOverLimit(after) }
    },
  }
}

export type SessionMemory = ReturnType<typeof createMemory>

type TurnText = Pick<StoredTurn, 'user_text' | 'reply'>

/** Whether the turns are over the limit of what stays verbatim. */
export const isOverLimit = (turns: readonly TurnText[]): boolean =>
  turns.length > MEMORY_TURNS_MAX || (turns.length > 1 && hasMoreChars(turns, MEMORY_CHARS_MAX))

/** Counts code points only when the cheaper count of UTF-16 units is over the limit. */
function hasMoreChars(turns: readonly TurnText[], most: number): boolean {
  if (unitsOf(turns) <= most) return false
  const chars = ({ user_text, reply }: TurnText) => charCount(user_text) + charCount(reply)
  return turns.reduce((sum, turn) => sum + chars(turn), 0) > most
}

function unitsOf(turns: readonly TurnText[]): number {
  let units = 0
  for (const { user_text, reply } of turns) units += user_text.length + reply.length
  return units
}

export interface TranscriptPage {
  /** Only turns with smaller numbers. */
  readonly before: number
  readonly limit: number
}

export interface TranscriptOptions {
  readonly store: TranscriptStore
  readonly sessions: Pick<SessionStore, 'ownerOf'>
}

/** Numbers of turns that are read at a time. */
const NUMBERS_AT_ONCE = 100

/** Reads the transcript of a session. */
export function createTranscripts({ store, sessions }: TranscriptOptions) {
  /** One at a time, because a reply may have two million characters. */
  async function* read(principal: Principal, id: string, numbers: readonly number[]) {
    const { tenantId, userId } = principal
    const giver = userId === null ? null : personGiver(userId)
    for (const seq of numbers) {
      const turn = await store.turn(tenantId, id, seq, giver)
      if (turn) yield turnOf(turn, principal)
    }
  }

  return {
    /** Newest first. An app's key sees only the turns of its app, in sessions of its app. */
    async page(principal: Principal, id: string, { before, limit }: TranscriptPage) {
      const isThere = isSeen(principal, await sessions.ownerOf(principal.tenantId, id))
      if (!isThere) return { turns: read(principal, id, []), next_before: null }
      const appId = principal.kind === 'app' ? principal.appId : null
      const more = { appId, before, limit: limit + 1 }
      const numbers = await store.numbers(principal.tenantId, id, more)
      const shown = numbers.slice(0, limit)
      const next_before = numbers.length > limit ? (shown.at(-1) ?? null) : null
      return { turns: read(principal, id, shown), next_before }
    },

    /** As all pages, oldest first; read one turn at a time. */
    async *all(principal: Principal, id: string): AsyncGenerator<TranscriptTurn> {
      if (!isSeen(principal, await sessions.ownerOf(principal.tenantId, id))) return
      const appId = principal.kind === 'app' ? principal.appId : null
      for (let after = 0; ; ) {
        const page = { appId, after, limit: NUMBERS_AT_ONCE }
        const numbers = await store.numbersAfter(principal.tenantId, id, page)
        yield* read(principal, id, numbers)
        if (numbers.length < NUMBERS_AT_ONCE) return
        after = numbers.at(-1) ?? after
      }
    },
  }
}

export type Transcripts = ReturnType<typeof createTranscripts>

function turnOf({ details, rating, ...turn }: KeptTurn, { kind }: Principal): TranscriptTurn {
  const known = details === null ? null : (JSON.parse(details) as TurnDetails)
  return {
    ...turn,
    details: known && (kind === 'session' ? known : withoutContent(known)),
    ...(rating === null ? {} : { rating }),
  }
}

/** Removes details that only people in the console see, such as the model's reasoning. */
function withoutContent(known: TurnDetails) {
  const { kb: _, thinking: _thought, builtin: _is, ...told } = known
  const { images: _shown, answer_words: _wished, ...details } = told
  return { ...details, tools: details.tools.map(withoutTexts) }
}

const withoutTexts = ({ arguments: _, result: _said, ...tool }: TurnDetails['tools'][number]) =>
  tool
