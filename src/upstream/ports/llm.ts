/** A call of a tool that the model asks for. */
export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it; may be malformed. */
  readonly arguments: string
}

export type LlmMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string; readonly images?: readonly string[] }
  | {
      readonly role: 'assistant'
      readonly content: string
      readonly toolCalls?: readonly ToolCall[]
    }
  | { readonly role: 'tool'; readonly callId: string; readonly content: string }

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments object. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Whether the model must keep to the schema; absent: as the channel does by itself. */
  readonly strict?: boolean
}

/** A retrieved piece of the tenant's knowledge base: quoted material, never instructions. */
export interface Passage {
  readonly title: string
  readonly seq: number
  readonly text: string
  /** Where the passage begins in its file or page, from 1; null when that is unknown. */
  readonly page: number | null
  readonly heading: string | null
}

/** The field that carries `thinking`; `auto` goes by vendor. */
export const THINKING_FORMS = [
  'auto',
  'reasoning_effort',
  'thinking',
  'enable_thinking',
  'none',
] as const
export type ThinkingForm = (typeof THINKING_FORMS)[number]

/** What the answer must be: a form, and the schema that JSON follows. */
export type ResponseFormat =
  | { readonly type: 'text' | 'json_object' }
  | { readonly type: 'json_schema'; readonly json_schema: Readonly<Record<string, unknown>> }

/** How the next token is chosen, and when the answer ends. What is absent is not sent. */
export interface Sampling {
  readonly topP?: number | undefined
  readonly presencePenalty?: number | undefined
  readonly frequencyPenalty?: number | undefined
  readonly seed?: number | undefined
  readonly stop?: string | readonly string[] | undefined
  readonly maxTokens?: number | undefined
  /** A model that refuses so many tokens is asked once more without a limit. */
  readonly maxTokensAtWill?: boolean | undefined
  readonly responseFormat?: ResponseFormat | undefined
  readonly parallelToolCalls?: boolean | undefined
}

/** Which tools the model must call: any one of them, or the one of this name. */
export type ForcedTool = 'required' | { readonly name: string }

export interface LlmRequest {
  /**
   * `summary` folds old turns into memory; `title` names a talk; `scan` reads a page, and may find
   * nothing on it; `turn` answers a person.
   */
  readonly purpose: 'turn' | 'summary' | 'title' | 'scan'
  /** Null for the channel's default model. */
  readonly model: string | null
  readonly messages: readonly LlmMessage[]
  /** Passages already rendered into `messages`, for a responder that quotes them itself. */
  readonly passages: readonly Passage[]
  readonly tools: readonly ToolSpec[]
  readonly thinking: boolean
  /** 0 to 2; null: not sent. */
  readonly temperature: number | null
  /** The caller's own wishes; absent where the caller has none. */
  readonly sampling?: Sampling
  /** Whether the answer has parts of type `thinking`; absent: reasoning is left out. */
  readonly showThinking?: boolean
  /** Absent: the model decides. */
  readonly forcedTool?: ForcedTool | undefined
  /** Learns what the call costs while it runs; an adapter without an upstream need not tell. */
  readonly meter?: CallMeter
}

/** What a call has cost, also when it is cut off before anything of its answer is passed on. */
export interface CallMeter {
  /** The messages leave for the model. */
  sent(): void
  /** They did not reach it, or it answered with an error. */
  refused(): void
  /** Text that the model wrote: answer, reasoning that is left out, arguments of tools. */
  wrote(text: string): void
}

export interface LlmUsage {
  readonly inputTokens: number
  readonly outputTokens: number
}

export type LlmPart =
  | { readonly type: 'text'; readonly text: string }
  /** The model's reasoning before its text; only with `showThinking`. */
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_call'; readonly call: ToolCall }
  /**
   * Memory that the adapter holds now for text that is not part of any item yet: an unfinished
   * line, arguments of tool calls, reasoning that is left out. Replaces the previous figure. Sent
   * when the figure has changed by `HELD_STEP_BYTES` or more, so a usual answer has none.
   */
  | { readonly type: 'held'; readonly bytes: number }
  | {
      readonly type: 'finish'
      readonly reason: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other'
      readonly usage: LlmUsage | null
      /** The model that answered; absent where it has no name. */
      readonly model?: string | undefined
    }

/** See the part `held`. */
export const HELD_STEP_BYTES = 16 * 1024

/**
 * The answer of one model call. Each item holds the parts of one network read, so that what arrived
 * together leaves together. Text parts come as they arrive, complete tool calls after the last
 * text, and exactly one `finish` last.
 *
 * Iteration throws `ChannelFailure` when the answer breaks off, and the signal's reason when
 * aborted. To be iterated at once and only once; leaving the loop ends the request.
 */
export type LlmStream = AsyncIterable<readonly LlmPart[]>

/** The port to a chat model. One adapter serves the platform's channel and a tenant's own. */
export interface Llm {
  /** Shown at start-up and on status pages, such as `openai-compatible` or `offline`. */
  readonly name: string
  /**
   * Makes one model call and resolves when its answer has begun: only before that may the call be
   * made again. Throws `ChannelFailure` for an upstream that refuses, cannot be reached or stays
   * silent; throws the signal's reason when aborted.
   */
  open(request: LlmRequest, signal: AbortSignal): Promise<LlmStream>
}

/** The models of an endpoint, in its order. */
export interface ModelListing {
  readonly models: readonly string[]
  /** Those of them that can chat, as far as that is told. */
  readonly chat: readonly string[]
  /**
   * How many tokens a model reads, by its name, where the endpoint says so; by null, the model that
   * answers where none is named.
   */
  readonly contexts: ReadonlyMap<string | null, number>
  /** Why it could not be asked, such as `timeout` or `unauthorized`; null where it could. */
  readonly failure: string | null
}
