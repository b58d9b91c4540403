import type { ErrorClass } from '../../core/error-table.ts'
import { AppError, appError, DiskFault, type ErrorCode, internalError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { BudgetExceeded } from '../../core/memory-budget.ts'
import {
  ChannelFailure,
  type ContextSize,
  type FailureReason,
} from '../../upstream/ports/failure.ts'
import type { AskEvent } from '../asks/events.ts'
import type { FileRef } from '../files/quotes.ts'
import type { MemoryWrite } from '../memories/turn-memories.ts'

/** A passage of the knowledge base that was shown to the model. */
export interface KbRef {
  readonly doc_id: string
  readonly title: string
  readonly seq: number
  readonly score: number
  /** As in `KbHit`. */
  readonly page: number | null
  readonly heading: string | null
  readonly url: string | null
  readonly collection_id: string | null
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
  /** The collections that were searched; absent: all documents. */
  readonly collections?: readonly string[]
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
  /** How many facts the model was shown; absent where the turn has no memory. */
  readonly memory?: { readonly shown: number }
}

/** The events of a turn, named as clients get them (web/guides/en/api.md). */
export type AgentEvent =
  /** `texts` are those of the passages, where the caller has asked for them. */
  | {
      readonly type: 'kb_refs'
      readonly refs: readonly KbRef[]
      readonly texts?: readonly string[]
    }
  | { readonly type: 'file_refs'; readonly refs: readonly FileRef[] }
  /** What the turn has remembered or forgotten. */
  | ({ readonly type: 'memory' } & MemoryWrite)
  | { readonly type: 'provider_fallback'; readonly from: 'byo'; readonly reason: FailureReason }
  | { readonly type: 'llm_delta'; readonly text: string }
  /** The model's reasoning before its text, for people in the console only. */
  | { readonly type: 'thinking_delta'; readonly text: string }
  /** `arguments` is JSON text of the model, for APIs that show what was searched for. */
  | { readonly type: 'tool_call'; readonly name: string; readonly arguments?: string }
  | { readonly type: 'tool_result'; readonly name: string; readonly ok: boolean }
  | AskEvent
  | TurnStats
  /** `seq` is the number of the turn in its session; absent when it was not stored. */
  | {
      readonly type: 'llm_end'
      readonly reply: string
      readonly stopped?: true
      readonly seq?: number
    }
  /** The first event of a turn that goes on when its reader leaves. */
  | { readonly type: 'turn'; readonly turn_id: string; readonly session_id: string }
  | {
      readonly type: 'error'
      readonly message: string
      readonly code: ErrorCode
      /** At the console: what went wrong, in a word, and the status of the upstream, if any. */
      readonly class?: ErrorClass
      readonly status?: number | null
      /** The words of the provider, for those who can mend the channel. */
      readonly detail?: string
      /** Of a conversation that was too long for the model, where it said so. */
      readonly tokens?: ContextSize
    }

/** Passes events on as they happen. When it returns a promise, the receiver is slower: await it. */
export type Emit = (events: readonly AgentEvent[]) => Promise<void> | undefined

/** The error code for each reason of a failed channel; text of the upstream is no part of it. */
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
export function errorEvent(
  error: unknown,
  log: Logger,
  brought: Brought,
): Extract<AgentEvent, { type: 'error' }> {
  const { code, message, details } = errorOf(error, log, brought)
  return { type: 'error', message, code, ...(details.tokens ? { tokens: details.tokens } : {}) }
}

function errorOf(error: unknown, log: Logger, brought: Brought): AppError {
  if (error instanceof ChannelFailure) {
    if (error.contextExceeded && brought.messages) {
      const { contextSize: tokens } = error
      return appError('model_context_exceeded', {}, tokens ? { tokens } : {})
    }
    if (error.toolsRefused && brought.tools) return appError('model_tools_refused')
    return appError(CODES[error.reason])
  }
  if (error instanceof AppError) return error
  if (error instanceof BudgetExceeded) return appError('turn_memory_full')
  log.error('turn failed', errorFields(error))
  return error instanceof DiskFault ? internalError(error) : appError('turn_failed')
}
