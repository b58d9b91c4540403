import type { AgentEvent, KbRef, TurnStats } from '../../api/types.ts'

export interface ToolUse {
  readonly name: string
  /** Null while it runs. */
  readonly ok: boolean | null
}

/** A question and its answer so far. */
export interface Turn {
  readonly id: number
  readonly text: string
  readonly images: readonly string[]
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly reply: string
  readonly refs: readonly KbRef[]
  readonly tools: readonly ToolUse[]
  /** The failure of the tenant's own channel; null without one. */
  readonly fallback: string | null
  readonly stats: Omit<TurnStats, 'type'> | null
  /** The code is null when the request was refused; the message is then translated. */
  readonly error: { readonly message: string; readonly code: string | null } | null
  readonly startedAt: number
  readonly firstMs: number | null
  readonly totalMs: number | null
  /** MP3 of a spoken reply, as base64. */
  readonly audio: string | null
}

export const newTurn = (
  id: number,
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
  error: null,
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
    case 'error':
      return { ...turn, error: { message: event.message, code: event.code }, state: 'failed' }
    default:
      return turn
  }
}

/** Marks the first running call of that tool as ended. */
function finished(tools: readonly ToolUse[], name: string, ok: boolean): ToolUse[] {
  const index = tools.findIndex((use) => use.name === name && use.ok === null)
  return tools.map((use, at) => (at === index ? { ...use, ok } : use))
}
