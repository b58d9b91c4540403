import type { AgentEvent } from './events.ts'

/** An event with its place among those of its turn, from 1; `data` is its JSON. */
export interface Told {
  readonly id: number
  readonly type: string
  readonly data: string
}

export const isLast = (type: string): boolean => type === 'llm_end' || type === 'error'

/** The event as clients get it: the arguments of a tool call stay here. */
export const wireOf = (event: AgentEvent): object =>
  event.type === 'tool_call' ? { type: event.type, name: event.name } : event

/** Characters of events that are sent, stored or parsed at a time. */
export const PIECE_CHARS = 64 * 1024

interface Line extends Told {
  /** `data` as it is stored. */
  readonly kept: string
}

/** What a running turn has told so far. */
export class ToldEvents {
  readonly #lines: Line[] = []
  readonly #watching = new Set<() => void>()
  #stored = 0
  #text = ''
  #isOver = false

  /** Whether the last event was told. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The words of the answer. */
  get text(): string {
    return this.#text
  }

  add(events: readonly AgentEvent[]): void {
    if (this.#isOver) return
    for (const event of events) {
      const data = JSON.stringify(wireOf(event))
      const id = this.#lines.length + 1
      this.#lines.push({ id, type: event.type, data, kept: keptOf(event, data) })
      if (event.type === 'llm_delta') this.#text += event.text
      if (event.type === 'provider_fallback') this.#text = ''
      if (isLast(event.type)) this.#isOver = true
    }
    this.#wake()
  }

  /** Nothing more is told. */
  close(): void {
    this.#isOver = true
    this.#wake()
  }

  /** How many events were told. */
  get count(): number {
    return this.#lines.length
  }

  /** The first events after number `after`. */
  after(after: number): readonly Told[] {
    let end = after
    for (let chars = 0; chars < PIECE_CHARS && end < this.#lines.length; end++) {
      chars += this.#lines[end]?.data.length ?? 0
    }
    return this.#lines.slice(after, end)
  }

  /** Calls `wake` whenever more is told and when the turn is over, until the result is called. */
  watch(wake: () => void): () => void {
    this.#watching.add(wake)
    return () => void this.#watching.delete(wake)
  }

  /** Takes what was not stored yet. */
  take(): { readonly firstId: number; readonly events: readonly string[] } {
    const firstId = this.#stored + 1
    const events = this.#lines.slice(this.#stored).map(({ kept }) => kept)
    this.#stored = this.#lines.length
    return { firstId, events }
  }

  /** Takes back what could not be stored, which begins at `firstId`. */
  giveBack(firstId: number): void {
    this.#stored = Math.min(this.#stored, firstId - 1)
  }

  #wake(): void {
    for (const wake of this.#watching) wake()
  }
}

/** The event as it is stored: the words of the provider are for the person who waits. */
export function keptOf(event: AgentEvent, data = JSON.stringify(wireOf(event))): string {
  if (event.type !== 'error' || event.detail === undefined) return data
  const { detail: _, ...kept } = event
  return JSON.stringify(kept)
}

/** The words of the answer that stored events hold, after the words before them. */
export function textOf(events: readonly Told[], before: string): string {
  let text = before
  for (const { type, data } of events) {
    if (type === 'provider_fallback') text = ''
    else if (type === 'llm_delta') text += (JSON.parse(data) as { text: string }).text
  }
  return text
}

/** The stored events after number `after`. */
export function toldIn(
  batches: readonly { readonly first_id: number; readonly events: string }[],
  after: number,
): Told[] {
  return batches.flatMap(({ first_id, events }) =>
    (JSON.parse(events) as { type: string }[])
      .map((event, index) => ({
        id: first_id + index,
        type: event.type,
        data: JSON.stringify(event),
      }))
      .filter(({ id }) => id > after),
  )
}
