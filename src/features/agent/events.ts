import { AppError, appError, DiskFault, type ErrorCode, internalError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { BudgetExceeded } from '../../core/memory-budget.ts'
import { ChannelFailure, type FailureReason } from '../../upstream/ports/failure.ts'

/** A passage that was shown to the model. */
export interface KbRef {
  readonly doc_id: string
  readonly title: string
  readonly seq: number
  readonly score: number
  /** As in `KbHit`. */
  readonly page: number | null
  readonly heading: string | null
  readonly url: string | null
}

/** Which channel answered, as the client learns it. */
export type AnsweringChannel = 'byo' | 'platform' | 'platform_fallback'

export interface KbSearched {
  readonly searched: true
  /** The highest score of a shown passage; of any passage when none is shown. */
  readonly best: number
  /** The relevance of that passage; a shown one has at least 0.45 of both. */
  readonly relevance: number
  /** Passages that were shown to the model. */
  readonly shown: number
}

export interface TurnStats {
  readonly type: 'stats'
  /** Model calls of the turn. */
  readonly iterations: number
  readonly channel: AnsweringChannel
  /** Sums over the model calls. */
  readonly input_tokens: number
  readonly output_tokens: number
  /** Whether a model call reported no usage, so that it was estimated. */
  readonly usage_estimated: boolean
  /**
   * What was searched; absent when nothing was. `skipped`: the turn went on without its passages,
   * because retrieval failed or was late.
   */
  readonly kb?: KbSearched | 'skipped'
}

/** The events of a turn, named as clients get them (web/guides/en/api.md). */
export type AgentEvent =
  | { readonly type: 'kb_refs'; readonly refs: readonly KbRef[] }
  | { readonly type: 'provider_fallback'; readonly from: 'byo'; readonly reason: FailureReason }
  | { readonly type: 'llm_delta'; readonly text: string }
  /** The model's reasoning before its text, for people in the console only. */
  | { readonly type: 'thinking_delta'; readonly text: string }
  /** `arguments` is JSON text of the model, for APIs that show what was searched for. */
  | { readonly type: 'tool_call'; readonly name: string; readonly arguments?: string }
  | { readonly type: 'tool_result'; readonly name: string; readonly ok: boolean }
  | TurnStats
  | { readonly type: 'llm_end'; readonly reply: string }
  | { readonly type: 'error'; readonly message: string; readonly code: ErrorCode }

/** Passes events on as they happen. When it returns a promise, the receiver is slower: await it. */
export type Emit = (events: readonly AgentEvent[]) => Promise<void> | undefined

/** The error code for each reason of a failed channel; upstream text is never passed on. */
const CODES = {
  retry_exhausted: 'model_retry_exhausted',
  upstream_4xx: 'model_upstream_4xx',
  upstream_5xx: 'model_upstream_5xx',
  channel_unavailable: 'model_channel_unavailable',
  provider_error: 'model_provider_error',
} as const satisfies Record<FailureReason, ErrorCode>

/** What the caller sent beside a text, and can mend when a model refuses it. */
export interface Brought {
  readonly messages: boolean
  readonly tools: boolean
}

/** The event that ends a failed turn. Unexpected errors are logged and not part of it. */
export function errorEvent(error: unknown, log: Logger, brought: Brought): AgentEvent {
  const { code, message } = errorOf(error, log, brought)
  return { type: 'error', message, code }
}

function errorOf(error: unknown, log: Logger, brought: Brought): AppError {
  if (error instanceof ChannelFailure) {
    if (error.contextExceeded && brought.messages) return appError('model_context_exceeded')
    if (error.toolsRefused && brought.tools) return appError('model_tools_refused')
    return appError(CODES[error.reason])
  }
  if (error instanceof AppError) return error
  if (error instanceof BudgetExceeded) return appError('turn_memory_full')
  log.error('turn failed', errorFields(error))
  return error instanceof DiskFault ? internalError(error) : appError('turn_failed')
}
