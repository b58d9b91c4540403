import { ApiError } from '../../api/client.ts'
import type { AgentEvent, KbRef, TurnStats } from '../../api/types.ts'
import type { ErrorName } from '../../i18n/index.tsx'

export interface ToolUse {
  readonly name: string
  /** Null while it runs. */
  readonly ok: boolean | null
}

/** Why a turn broke. */
export interface TurnFault {
  readonly message: string
  /** Null: the stream said it, after it had begun. */
  readonly status: number | null
  readonly error: ErrorName | null
}

/** A question and its answer so far. */
export interface Turn {
  /** Unique in this tab. */
  readonly id: string
  readonly text: string
  readonly images: readonly string[]
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly reply: string
  readonly refs: readonly KbRef[]
  readonly tools: readonly ToolUse[]
  /** The failure of the tenant's own channel; null without one. */
  readonly fallback: string | null
  readonly stats: Omit<TurnStats, 'type'> | null
  /** Null for a stream that broke off without a word. */
  readonly fault: TurnFault | null
  readonly startedAt: number
  readonly firstMs: number | null
  readonly totalMs: number | null
  /** MP3 of a spoken reply, as base64. */
  readonly audio: string | null
}

export const newTurn = (
  id: string,
  text: string,
  images: readonly string[],
  startedAt: number,
): Turn => ({
  id,
  text,
  images,
  state: 'running',
  reply: '',
  refs: [],
  tools: [],
  fallback: null,
  stats: null,
  fault: null,
  startedAt,
  firstMs: null,
  totalMs: null,
  audio: null,
})

/** The turn after some events of its stream; `at` is when they arrived. */
export const afterEvents = (turn: Turn, events: readonly AgentEvent[], at: number): Turn =>
  events.reduce((before, event) => after(before, event, at), turn)

function after(turn: Turn, event: AgentEvent, at: number): Turn {
  switch (event.type) {
    case 'kb_refs':
      return { ...turn, refs: event.refs }
    case 'provider_fallback':
      // The text of the failed channel is void (specification, Events).
      return { ...turn, reply: '', tools: [], fallback: event.reason }
    case 'llm_delta':
      return {
        ...turn,
        reply: turn.reply + event.text,
        firstMs: turn.firstMs ?? at - turn.startedAt,
      }
    case 'tool_call':
      return { ...turn, tools: [...turn.tools, { name: event.name, ok: null }] }
    case 'tool_result':
      return { ...turn, tools: finished(turn.tools, event.name, event.ok) }
    case 'stats':
      return { ...turn, stats: event }
    case 'llm_end':
      return { ...turn, reply: event.reply, state: 'done', totalMs: at - turn.startedAt }
    case 'error': {
      const { message, code } = event
      return { ...turn, state: 'failed', fault: { message, status: null, error: named(code) } }
    }
    default:
      return turn
  }
}

const named = (code: string): ErrorName => ({ code, params: {} })

/** Marks the first running call of that tool as ended. */
function finished(tools: readonly ToolUse[], name: string, ok: boolean): ToolUse[] {
  const index = tools.findIndex((use) => use.name === name && use.ok === null)
  return tools.map((use, at) => (at === index ? { ...use, ok } : use))
}

/** The turn whose stream has ended; one without `llm_end` or `error` was cut. */
export const cut = (turn: Turn): Turn =>
  turn.state === 'running' ? { ...turn, state: 'failed' } : turn

/** The turn after its request or its connection failed. */
export function broken(turn: Turn, error: unknown): Turn {
  if (!(error instanceof ApiError)) return cut(turn)
  const { message, status, error: name = null } = error
  // A connection that breaks in mid-answer has no status either; what was read so far is shown.
  return { ...turn, state: 'failed', fault: { message, status, error: name } }
}

/** Words of a text; a Chinese character counts as one. */
export const wordsIn = (text: string): number =>
  text.match(/\p{Script=Han}|[\p{L}\p{N}]+/gu)?.length ?? 0
