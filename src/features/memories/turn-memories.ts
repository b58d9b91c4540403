import { type Clock, HOUR_MS } from '../../core/clock.ts'
import { MEMORIES_SHOWN_CHARS_MAX, MEMORIES_SHOWN_MAX } from '../../core/limits/contract.ts'
import type { Question } from '../../core/question.ts'
import { charCount } from '../../core/text.ts'
import type { Statement } from '../../storage/db.ts'
import type { Tool } from '../../tools/tool.ts'
import { byLikeness, type MemoryLikeness } from './likeness.ts'
import { quoteFacts } from './quote.ts'
import type { Fact, MemoryStore, Place } from './store.ts'
import { createMemoryTools } from './tools.ts'

/** What a turn has written, in the words of the event `memory`. */
export interface MemoryWrite {
  readonly action: 'remembered' | 'forgotten'
  readonly id: string
  readonly text: string
}

/** Which facts a turn knows; null: none. */
export type MemoryScope = 'app' | 'tenant' | null

export interface MemoryTurn {
  readonly tenantId: string
  readonly subject: string | null
  readonly appId: string | null
  readonly sessionId: string | null
  readonly scope: MemoryScope
  /** What facts are compared with. */
  readonly question: Question
}

/** The memory of one turn. */
export interface MemoriesOfTurn {
  /** How many facts the model is shown; null: the turn has no memory. */
  readonly shown: number | null
  /** What the model reads; empty where there is nothing to know. */
  readonly quote: string
  readonly tools: readonly Tool[]
  /** Takes back what was written: the turn starts over. */
  startOver(): void
  /** Statements of the transaction that stores the turn. */
  storing(): readonly Statement[]
  /** What was written, without its text. */
  ids(): readonly Omit<MemoryWrite, 'text'>[]
  /** Of what was written, what is stored now. */
  stored(): Promise<readonly MemoryWrite[]>
}

export interface TurnMemoriesParts {
  readonly store: MemoryStore
  readonly likeness: MemoryLikeness
  readonly clock: Pick<Clock, 'iso' | 'now'>
}

const NO_MEMORIES: MemoriesOfTurn = {
  shown: null,
  quote: '',
  tools: [],
  startOver() {},
  storing: () => [],
  ids: () => [],
  stored: async () => [],
}

/** What a turn may remember: of the app alone, or of all that share; null for none. */
function placeOf({ tenantId, subject, appId, scope }: MemoryTurn): Place | null {
  if (subject === null || scope === null) return null
  if (scope === 'tenant') return { tenantId, subject, scope: '' }
  return appId === null ? null : { tenantId, subject, scope: appId }
}

/** Memory in turns: what the model is shown, and what it writes. */
export function createTurnMemories(parts: TurnMemoriesParts) {
  const { store, likeness, clock } = parts

  /**
   * Nothing for facts whose last use was noted within the last hour: a row is written whole, with
   * its vector, so that each turn of a talk would write as much as a long answer.
   */
  function usedBy(tenantId: string, used: readonly Fact[]): Statement[] {
    const before = new Date(clock.now() - HOUR_MS).toISOString()
    const old = used.filter(({ used_at }) => used_at === null || used_at < before)
    const ids = [...new Set(old.map(({ id }) => id))]
    return ids.length === 0 ? [] : [store.used(tenantId, ids, clock.iso(), before)]
  }

  /** The facts in the order in which they are shown. */
  async function ordered(
    place: Place,
    facts: readonly Fact[],
    question: Question,
    signal: AbortSignal,
  ): Promise<readonly Fact[]> {
    if (question.text === '' || fitting(facts).length === facts.length) return facts
    const pinned = facts.filter((fact) => fact.pinned === 1)
    if (pinned.length >= MEMORIES_SHOWN_MAX) return facts
    const others = facts.filter((fact) => fact.pinned !== 1)
    const scores = await likenessOf(place, others, question, signal)
    return [...pinned, ...byLikeness(others, scores)]
  }

  async function likenessOf(
    place: Place,
    facts: readonly Fact[],
    question: Question,
    signal: AbortSignal,
  ) {
    const load = () => store.vectors(place)
    return likeness.to(place.tenantId, question, facts, load, signal)
  }

  return {
    async open(turn: MemoryTurn, signal: AbortSignal): Promise<MemoriesOfTurn> {
      const place = placeOf(turn)
      if (place === null) return NO_MEMORIES
      const facts = await store.facts(place)
      const shown = fitting(await ordered(place, facts, turn.question, signal))
      const { tools, writes, used, startOver } = createMemoryTools(
        { store, clock, likeness, likenessOf },
        { place, sessionId: turn.sessionId, facts },
      )
      return {
        shown: shown.length,
        quote: quoteFacts(shown),
        tools,
        startOver,
        storing() {
          const use = usedBy(place.tenantId, [...shown, ...used])
          return [...writes.flatMap((write) => write.statements), ...use]
        },
        ids: () => writes.map(({ action, id }) => ({ action, id })),
        async stored() {
          const told = writes.filter(({ action }) => action === 'remembered')
          const ids = told.map(({ id }) => id)
          const present = await store.present(place.tenantId, ids)
          return writes
            .filter(({ action, id }) => action === 'forgotten' || present.has(id))
            .map(({ action, id, text }) => ({ action, id, text }))
        },
      }
    },
  }
}

export type TurnMemories = ReturnType<typeof createTurnMemories>

/** The facts that the model is shown; those that do not fit are left out whole. */
function fitting(facts: readonly Fact[]): Fact[] {
  let chars = 0
  const shown: Fact[] = []
  for (const fact of facts) {
    if (shown.length === MEMORIES_SHOWN_MAX) break
    const size = charCount(fact.text)
    if (chars + size > MEMORIES_SHOWN_CHARS_MAX) continue
    chars += size
    shown.push(fact)
  }
  return shown
}
