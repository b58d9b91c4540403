import type { ErrorName } from '../../api/client.ts'
import type { MemoryWrite } from '../../api/memories.ts'
import type {
  Ask,
  FileRef,
  KbRef,
  StudioDetails,
  StudioEvent,
  TranscriptTurn,
  TurnStats,
} from '../../api/types.ts'
import { askedOf, type Question, type Replaced, type SentFile } from './asked-of.ts'
import { type Wish, wishIn } from './wish.ts'

export interface ToolUse {
  readonly name: string
  /** Null while it runs. */
  readonly ok: boolean | null
  /** From the transcript, once the turn is stored; cut when they are long. */
  readonly ms?: number
  readonly arguments?: string | undefined
  readonly result?: string | undefined
  /** It was not called, since nobody could be asked. */
  readonly needs_approval?: true | undefined
  /** The person did not allow it. */
  readonly declined?: true | undefined
}

/** What a person was asked, and what they said. */
export interface Asked {
  readonly tool: string
  readonly action: 'accept' | 'decline' | 'cancel'
  /** How long the turn waited for it. */
  readonly ms: number
}

/** Why a turn broke. */
export interface TurnFault {
  readonly message: string
  /** Null when the error came as an event of the stream. */
  readonly status: number | null
  readonly error: ErrorName | null
  /** The provider's words, for those who can mend it. */
  readonly detail?: string | undefined
  /** What went wrong at the provider, in a word, and its status; absent where nothing is told. */
  readonly kind?: string | undefined
  readonly upstream?: number | null | undefined
}

/** A question and its answer so far. */
export interface Turn {
  /** Unique in this tab. */
  readonly id: string
  /** The number in the transcript; null while it is not stored or unknown. */
  readonly seq: number | null
  /** The person's thumb for it: 1, -1, or 0. A turn that an earlier page has kept has none. */
  readonly rating?: number
  /** The name of a turn that goes on without this page; null without one. */
  readonly turnId: string | null
  /** The number of the last event that was read. */
  readonly after: number
  readonly replaces: Replaced | null
  /** How this answer was asked to be. */
  readonly wish: Wish | undefined
  /** When it was asked by this machine's clock, or when it was stored. */
  readonly at: number
  readonly text: string
  readonly images: readonly string[]
  /** Pictures that were sent and are not kept. */
  readonly pictures: number
  /** The files beside the question. */
  readonly files: readonly SentFile[]
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly reply: string
  /** A person stopped the answer, and what was written is stored. */
  readonly isStopped: boolean
  /** The server ended in the middle of the answer. */
  readonly isInterrupted: boolean
  /** The model's reasoning before the reply. */
  readonly thoughts: string
  readonly refs: readonly KbRef[]
  readonly fileRefs: readonly FileRef[]
  readonly tools: readonly ToolUse[]
  /** What the answer has remembered and forgotten. */
  readonly memory: readonly MemoryWrite[]
  /** What waits for an answer of the person. */
  readonly asks: readonly Ask[]
  /** What was asked and answered; from the transcript, once the turn is stored. */
  readonly asked: readonly Asked[]
  /** The failure of the tenant's own channel; null without one. */
  readonly fallback: string | null
  readonly stats: Omit<TurnStats, 'type'> | null
  /** The model that answered; null while it is unknown. */
  readonly model: string | null
  /** The built-in responder answered. */
  readonly isBuiltIn: boolean
  /** Null for a stream that broke off without a word. */
  readonly fault: TurnFault | null
  readonly startedAt: number
  readonly firstMs: number | null
  readonly totalMs: number | null
  /** The spoken reply. */
  readonly sound: Blob | null
}

export const newTurn = (id: string, question: Question, startedAt: number): Turn => ({
  id,
  seq: null,
  turnId: null,
  after: 0,
  replaces: question.replaces ?? null,
  wish: question.wish,
  at: Date.now(),
  text: question.text,
  images: question.images,
  pictures: question.pictures ?? 0,
  files: question.files ?? [],
  state: 'running',
  reply: '',
  isStopped: false,
  isInterrupted: false,
  thoughts: '',
  refs: [],
  fileRefs: [],
  tools: [],
  memory: [],
  asks: [],
  asked: [],
  fallback: null,
  stats: null,
  model: null,
  isBuiltIn: false,
  fault: null,
  startedAt,
  firstMs: null,
  totalMs: null,
  sound: null,
})

/** A stored turn. */
export function storedTurn(row: TranscriptTurn): Turn {
  const { images, files } = (row.details ?? {}) as StudioDetails
  const question = askedOf(row.user_text, images, files)
  const turn = {
    ...newTurn(`seq:${row.seq}`, question, 0),
    reply: row.reply,
    state: 'done' as const,
  }
  return { ...withDetails(turn, row), at: Date.parse(row.created_at) }
}

/** The turn with further details from the transcript. */
export function withDetails(turn: Turn, { seq, details, rating = 0 }: TranscriptTurn): Turn {
  if (details === null) return { ...turn, seq, rating }
  const { channel, iterations, input_tokens, output_tokens, kb } = details
  const known = { channel, iterations, input_tokens, output_tokens, ...(kb ? { kb } : {}) }
  return {
    ...turn,
    seq,
    rating,
    isStopped: (details as StudioDetails).stopped === true,
    wish: wishIn(details) ?? turn.wish,
    refs: details.kb_refs.map((ref) => ({ ...ref, collection_id: ref.collection_id ?? null })),
    tools: details.tools,
    asked: details.asks ?? [],
    fallback: details.fallback_reason,
    stats: turn.stats ?? { ...known, usage_estimated: false },
    model: details.model,
    isBuiltIn: details.builtin === true,
    thoughts: details.thinking ?? turn.thoughts,
    firstMs: turn.firstMs ?? details.first_ms,
    totalMs: turn.totalMs ?? details.total_ms,
  }
}

/** The turn after some events of its stream; `at` is when they arrived. */
export const afterEvents = (turn: Turn, events: readonly StudioEvent[], at: number): Turn =>
  events.reduce((before, event) => after(before, event, at), turn)

function after(turn: Turn, event: StudioEvent, at: number): Turn {
  switch (event.type) {
    case 'turn':
      return { ...turn, turnId: event.turn_id }
    case 'file_refs':
      return { ...turn, fileRefs: event.refs }
    case 'kb_refs':
      return { ...turn, refs: event.refs }
    case 'provider_fallback':
      // The text of the failed channel is void.
      return { ...turn, reply: '', thoughts: '', tools: [], fallback: event.reason }
    case 'llm_delta':
      return {
        ...turn,
        reply: turn.reply + event.text,
        firstMs: turn.firstMs ?? at - turn.startedAt,
      }
    case 'thinking_delta':
      return { ...turn, thoughts: turn.thoughts + event.text }
    case 'tool_call':
      return { ...turn, tools: [...turn.tools, { name: event.name, ok: null }] }
    case 'tool_result':
      return { ...turn, tools: finished(turn.tools, event.name, event.ok) }
    case 'memory':
      return { ...turn, memory: [...turn.memory, event] }
    case 'ask':
      return { ...turn, asks: [...asksOf(turn), event] }
    case 'ask_done':
      return afterAnswer(turn, event)
    case 'stats':
      return { ...turn, stats: event }
    case 'llm_end':
      return {
        ...turn,
        reply: event.reply,
        state: 'done',
        isStopped: event.stopped === true,
        seq: event.seq ?? turn.seq,
        totalMs: at - turn.startedAt,
      }
    case 'error': {
      const { message, code, detail, class: kind, status: upstream } = event
      if (code === 'stopped') return { ...turn, state: 'stopped' }
      // A turn that it knows by a name is told of once the server is back.
      if (code === 'server_stopping' && turn.turnId !== null) return turn
      const fault = { message, status: null, error: named(code), detail, kind, upstream }
      return { ...turn, state: 'failed', fault }
    }
    default:
      return turn
  }
}

/** A turn that an earlier version of this page has kept has none. */
export const asksOf = ({ asks, state }: Turn): readonly Ask[] =>
  state === 'running' ? (asks ?? []) : []

/** What was not allowed is told as such before the server tells that it failed. */
function afterAnswer(turn: Turn, { id, action }: Extract<StudioEvent, { type: 'ask_done' }>): Turn {
  const asks = asksOf(turn)
  const asked = asks.find((one) => one.id === id)
  const left = { ...turn, asks: asks.filter((one) => one !== asked) }
  // A server that asks something of its own goes on after a no.
  if (action !== 'decline' || !asked || (asked.server !== null && asked.kind !== 'approval')) {
    return left
  }
  const name = asked.server === null ? asked.tool : `${asked.server}__${asked.tool}`
  const isIt = (use: ToolUse) => use.name === name && use.ok === null && !use.declined
  const index = turn.tools.findIndex(isIt)
  const denied = (use: ToolUse): ToolUse => ({ ...use, declined: true })
  return { ...left, tools: turn.tools.map((use, at) => (at === index ? denied(use) : use)) }
}

const named = (code: string): ErrorName => ({ code, params: {} })

/** Marks the first running call of that tool as ended. */
function finished(tools: readonly ToolUse[], name: string, ok: boolean): ToolUse[] {
  const index = tools.findIndex((use) => use.name === name && use.ok === null)
  return tools.map((use, at) => (at === index ? { ...use, ok } : use))
}

/** Words of a text; a Chinese character counts as one. */
export const wordsIn = (text: string): number =>
  text.match(/\p{Script=Han}|[\p{L}\p{N}]+/gu)?.length ?? 0
