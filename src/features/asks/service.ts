import { type Clock, HOUR_MS } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { ANONYMOUS } from '../../core/fields.ts'
import { ASKS_OPEN_MAX, ASKS_PER_TURN_MAX } from '../../core/limits/contract.ts'
import { TURN_MS_MAX } from '../../core/limits/machine.ts'
import type { Meters } from '../../core/meters.ts'
import type { Principal } from '../../core/principal.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { Allowed, Person, Question, Reply } from '../../tools/asking.ts'
import { type Asked, checkedAnswer, type Given } from './checked.ts'
import { type AskEvent, askEvent } from './events.ts'
import type { AskAnswerRequest } from './model.ts'
import type { AskRow, AskStore } from './store.ts'
import { createWaiting } from './waiting.ts'

/** How long an answer waits for the server that runs the turn. */
const TAKEN_MS_MAX = 5_000
const LOOK_MS = 200
/** How long it is known that an ask was answered. */
const KEPT_MS = HOUR_MS

export interface AsksOptions {
  readonly store: AskStore
  readonly clock: Clock
  readonly meters: Pick<Meters, 'asked'>
  /** How long a turn waits for its person. */
  readonly askMs: () => number
  /** No other process serves this database. */
  readonly isAlone: boolean
}

export interface AskingTurn {
  readonly principal: Principal
  readonly sessionId: string | null
  readonly signal: AbortSignal
  emit(events: readonly AskEvent[]): Promise<void> | undefined
}

/** What a turn has asked, for the details that people may look at. */
export interface ToldAsk {
  readonly tool: string
  readonly action: Given['action']
  readonly ms: number
}

/** The person of one turn, and what is left of them when it ends. */
export interface TurnPerson extends Person {
  /** Aborts with `turn`'s signal, and when the person cancels. */
  readonly signal: AbortSignal
  readonly told: readonly ToldAsk[]
  /** Keeps what the person has allowed for the session, once that is stored. */
  keep(): Promise<void>
}

const missing = () => appError('not_found', { what: 'ask' })

/** What turns ask their people, and the answers. */
export function createAsks(options: AsksOptions) {
  const { store, clock, isAlone } = options
  const waiting = createWaiting(clock, isAlone)

  /** Whether a turn takes the answer, at this server or another. */
  async function isTaken(tenantId: string, id: string): Promise<boolean> {
    const isHere = await waiting.wake(id)
    const until = clock.steady() + TAKEN_MS_MAX
    for (;;) {
      const row = await store.find(tenantId, id)
      if (row?.state !== 'answered') return row?.state === 'taken'
      // A turn whose server is gone takes nothing.
      if (isHere || isAlone || clock.steady() >= until) return !(await store.withdraw(id))
      await clock.sleep(LOOK_MS)
    }
  }

  return {
    /** The person of a turn; the turn ends with the signal of theirs. */
    begin: (turn: AskingTurn): TurnPerson => personOf(options, waiting, turn),

    /** Gives an answer to the turn. Resolves with what was asked, once the turn has it. */
    async answer(principal: Principal, id: string, request: AskAnswerRequest): Promise<Asked> {
      const row = await store.find(principal.tenantId, id)
      if (!row || !mayAnswer(principal, row)) throw missing()
      const now = clock.now()
      if (row.state === 'taken' || row.state === 'answered') throw appError('ask_answered')
      if (row.question === null || row.expires_at <= now) throw missing()
      const asked = JSON.parse(row.question) as Asked
      const given = checkedAnswer(asked, request)
      if (!(await store.answer(id, JSON.stringify(given), now))) {
        const again = await store.find(principal.tenantId, id)
        throw again && again.state !== 'open' ? appError('ask_answered') : missing()
      }
      if (!(await isTaken(principal.tenantId, id))) throw missing()
      return asked
    },

    prune: () => store.prune(clock.now() - KEPT_MS),
  }
}

/** A person's is theirs; that of a key is its own, and any general key's. */
function mayAnswer({ userId, keyId, kind }: Principal, row: AskRow): boolean {
  if (row.user_id !== null || userId !== null) return row.user_id === userId
  return kind === 'general' || row.key_id === keyId
}

function personOf(
  { store, clock, meters, askMs }: AsksOptions,
  waiting: ReturnType<typeof createWaiting>,
  { principal, sessionId, signal: turn, emit }: AskingTurn,
): TurnPerson {
  const { tenantId } = principal
  const canceled = new AbortController()
  const signal = AbortSignal.any([turn, canceled.signal])
  const slots = createSemaphore({ slots: ASKS_OPEN_MAX })
  const endsAt = clock.now() + TURN_MS_MAX
  const told: ToldAsk[] = []
  const allowed = new Map<string, Allowed>()
  const nameOf = ({ serverId, tool, hash }: Allowed) => `${serverId}/${hash}/${tool}`
  // A name that callers without one share is nobody's session.
  const session = sessionId === ANONYMOUS ? null : sessionId
  let count = 0

  async function end(id: string, { tool }: Question, startedAt: number, action: Given['action']) {
    told.push({ tool, action, ms: Math.round(clock.steady() - startedAt) })
    meters.asked(action)
    await emit([{ type: 'ask_done', id, action }])
  }

  async function ask(question: Question): Promise<Reply> {
    const id = newId()
    const startedAt = clock.steady()
    const expiresAt = Math.min(clock.now() + askMs(), endsAt)
    const { kind, server, tool, schema, options, multiple } = question
    const kept = JSON.stringify({ kind, server, tool, schema, options, multiple })
    let isOver = false
    await store.open(principal, { id, question: kept, expiresAt })
    try {
      const tell = () => emit([askEvent(id, question, new Date(expiresAt).toISOString())])
      const limit = { msMax: expiresAt - clock.now(), signal }
      const inTime = await waiting.until(id, tell, () => store.take(id), limit)
      // One that was answered in the last moment counts.
      const answer = inTime ?? ((await store.expire(id)) ? null : await store.take(id))
      const given: Given = answer
        ? (JSON.parse(answer) as Given)
        : { action: 'decline', content: {}, remember: false }
      isOver = true
      await end(id, question, startedAt, given.action)
      if (given.action !== 'cancel') return { ...given, action: given.action }
      canceled.abort(appError('ask_canceled'))
      throw signal.reason
    } catch (error) {
      await store.drop(id)
      if (!isOver && canceled.signal.aborted) await end(id, question, startedAt, 'cancel')
      throw error
    }
  }

  return {
    signal,
    told,
    conversation: session === null ? null : `${principal.userId ?? principal.keyId} ${session}`,

    async ask(question) {
      if (++count > ASKS_PER_TURN_MAX) return null
      return slots.run('', () => ask(question), signal)
    },

    async hasAllowed(tool) {
      if (allowed.has(nameOf(tool))) return true
      return session !== null && store.isAllowed(tenantId, session, tool)
    },

    allow: (tool) => void allowed.set(nameOf(tool), tool),

    async keep() {
      if (session === null || allowed.size === 0) return
      await store.allow(tenantId, session, [...allowed.values()])
    },
  }
}

export type Asks = ReturnType<typeof createAsks>
