import type { FailureReason } from '../../channels/ports/failure.ts'
import type { ErrorCode } from '../../core/errors.ts'

/** A passage that was shown to the model (specification, Events: kb_refs). */
export interface KbRef {
  readonly doc_id: string
  readonly title: string
  readonly seq: number
  readonly score: number
}

/** Which channel answered, as the client is told (specification, Events: stats). */
export type AnsweringChannel = 'byo' | 'platform' | 'platform_fallback'

/** The events of a turn, in the specification's words. */
export type AgentEvent =
  | { readonly type: 'kb_refs'; readonly refs: readonly KbRef[] }
  | { readonly type: 'provider_fallback'; readonly from: 'byo'; readonly reason: FailureReason }
  | { readonly type: 'llm_delta'; readonly text: string }
  | { readonly type: 'tool_call'; readonly name: string }
  | { readonly type: 'tool_result'; readonly name: string; readonly ok: boolean }
  | { readonly type: 'stats'; readonly iterations: number; readonly channel: AnsweringChannel }
  | { readonly type: 'llm_end'; readonly reply: string }
  | { readonly type: 'error'; readonly message: string; readonly code: ErrorCode }

/** Passes events on as they happen; a promise means that the listener is slower: wait for it. */
export type Tell = (events: readonly AgentEvent[]) => Promise<void> | undefined

/** How these events are streamed (specification, Events), for http/sse.ts. */
export const AGENT_STREAM = {
  frame: (event: AgentEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  isLast: ({ type }: AgentEvent) => type === 'llm_end' || type === 'error',
  onStop: (reason: { readonly message: string; readonly code: ErrorCode }): AgentEvent => ({
    type: 'error',
    ...reason,
  }),
}
