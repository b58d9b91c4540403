import { bytesOfText } from '../../core/memory-budget.ts'
import { firstChars } from '../../core/text.ts'
import type { FailureReason } from '../../upstream/ports/failure.ts'
import type { FileRef } from '../files/quotes.ts'
import type { TurnDetails } from '../sessions/model.ts'
import type { AnsweringChannel, KbRef, TurnStats } from './events.ts'

type ToolDetails = TurnDetails['tools'][number]

/** Characters kept of the arguments and result of a tool, and of all tools of a turn together. */
const TOOL_TEXT_CHARS_MAX = 2_000
const TOOL_TEXTS_CHARS_MAX = 40_000
/** Characters kept of the model's reasoning in all model calls of a turn. */
const THINKING_CHARS_MAX = 20_000

interface ToolRun {
  readonly name: string
  readonly ok: boolean
  readonly ms: number
  readonly arguments: string
  readonly result: string
  readonly needsApproval: true | undefined
  readonly declined: true | undefined
}

/** What the client was told that the model read. */
interface Told {
  readonly refs: readonly KbRef[]
  readonly fileRefs: readonly FileRef[]
}

/** Collects the details of one turn, which people may look at later. */
export class Trace {
  readonly #steady: () => number
  readonly #startedAt: number
  #tools: ToolDetails[] = []
  #toolChars = 0
  #thinking = ''
  #fallbackReason: FailureReason | null = null
  /** Called when the turn starts over. */
  onStartOver: () => void = () => {}
  /** On the steady clock; null before the first word of the answer. */
  firstTextAt: number | null = null
  /** The channel that has failed last. */
  failedOn: AnsweringChannel | null = null
  /** The model of the last call; undefined where it has no name. */
  model: string | undefined

  constructor(steady: () => number) {
    this.#steady = steady
    this.#startedAt = steady()
  }

  /** The time from `start`, in whole milliseconds. */
  msSince(start: number): number {
    return Math.round(this.#steady() - start)
  }

  now(): number {
    return this.#steady()
  }

  gotText(): void {
    if (this.firstTextAt === null) this.firstTextAt = this.#steady()
  }

  /** Keeps the beginning of the model's reasoning; returns the bytes that were added. */
  thought(text: string): number {
    const kept = text.slice(0, THINKING_CHARS_MAX - this.#thinking.length)
    this.#thinking += kept
    return bytesOfText(kept)
  }

  ranTool({ name, ok, ms, needsApproval, declined, ...texts }: ToolRun): void {
    const shown = {
      arguments: firstChars(texts.arguments, TOOL_TEXT_CHARS_MAX),
      result: firstChars(texts.result, TOOL_TEXT_CHARS_MAX),
    }
    this.#toolChars += shown.arguments.length + shown.result.length
    const fits = this.#toolChars <= TOOL_TEXTS_CHARS_MAX
    const refused = needsApproval ? { needs_approval: true as const } : {}
    const denied = declined ? { declined } : {}
    this.#tools.push({ name, ok, ms, ...refused, ...denied, ...(fits ? shown : {}) })
  }

  /** The turn starts over on another channel. */
  startOver(reason: FailureReason): void {
    this.#tools = []
    this.#toolChars = 0
    this.#thinking = ''
    this.#fallbackReason = reason
    this.firstTextAt = null
    this.model = undefined
    this.onStartOver()
  }

  /** The details that are stored beside the text of the turn. */
  details({ refs, fileRefs }: Told, stats: TurnStats, isBuiltIn: boolean): TurnDetails {
    const { firstTextAt } = this
    return {
      kb_refs: [...refs],
      ...(fileRefs.length > 0 ? { file_refs: [...fileRefs] } : {}),
      tools: this.#tools,
      channel: stats.channel satisfies AnsweringChannel,
      model: this.model ?? null,
      iterations: stats.iterations,
      input_tokens: stats.input_tokens,
      output_tokens: stats.output_tokens,
      first_ms: firstTextAt === null ? null : Math.round(firstTextAt - this.#startedAt),
      total_ms: this.msSince(this.#startedAt),
      fallback_reason: this.#fallbackReason,
      ...(stats.kb === undefined ? {} : { kb: stats.kb }),
      ...(this.#thinking === '' ? {} : { thinking: this.#thinking }),
      ...(isBuiltIn ? { builtin: true as const } : {}),
    }
  }
}
