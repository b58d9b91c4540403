import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Pictures } from '../files/pictures.ts'
import { nameOfId } from './detached-names.ts'
import type { DetachedStore } from './detached-store.ts'
import type { AgentEvent } from './events.ts'
import { TurnStopped } from './heard.ts'
import type { OpenedTurn } from './service.ts'
import { keptOf, type Told, ToldEvents } from './told.ts'

/** What was told is written at most this often. */
const WRITE_MS = 1_000

/** The end of a turn that was stopped before a word was written. */
function stoppedEvent(): AgentEvent {
  const { code, message } = appError('stopped')
  return { type: 'error', code, message }
}

interface Talk {
  readonly tenantId: string
  readonly sessionId: string
}

export const sessionName = (tenantId: string, sessionId: string) => `${tenantId}/${sessionId}`

interface Running {
  readonly told: ToldEvents
  readonly stop: AbortController
  readonly session: string
  readonly tenantId: string
  /** Resolves with whether the turn was stored, once that is on disk. */
  readonly done: Promise<boolean>
}

/** Gives events to one reader, until the turn is over or the reader leaves. */
export type Produce = (
  signal: AbortSignal,
  emit: (events: readonly Told[]) => Promise<void> | undefined,
) => Promise<void>

/** Does work of a reader when it is their tenant's turn. */
export type InTurn = (work: () => Promise<void>) => Promise<void>

/** Reads a turn that runs here; readers that are far behind take turns. */
export const fromMemory =
  (told: ToldEvents, after: number, inTurn: InTurn): Produce =>
  async (signal, emit) => {
    let wake = () => {}
    // Once for all events, because it would cost as much as one of them each time.
    const unwatch = told.watch(() => wake())
    const onAbort = () => wake()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      for (let at = after; !signal.aborted; ) {
        const events = told.after(at)
        at += events.length
        if (events.length > 0) {
          let slow: Promise<void> | undefined
          if (at === told.count) slow = emit(events)
          else
            await inTurn(async () => {
              slow = emit(events)
            })
          if (slow) await slow
        } else if (told.isOver) return
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      unwatch()
      signal.removeEventListener('abort', onAbort)
    }
  }

export interface RunsOptions {
  readonly store: Pick<DetachedStore, 'put' | 'end'>
  /** Deletes the pictures of a turn that was not stored. */
  readonly pictures: Pick<Pictures, 'sweep'>
  readonly clock: Pick<Clock, 'after' | 'now'>
  readonly log: Logger
}

/** The detached turns that this process runs. */
export function createRuns({ store, pictures, clock, log }: RunsOptions) {
  const running = new Map<string, Running>()
  let isClosing = false

  async function write(turnId: string, told: ToldEvents): Promise<void> {
    const batch = told.take()
    try {
      await store.put({ turnId, ...batch })
    } catch (error) {
      told.giveBack(batch.firstId)
      log.warn('events of a turn not stored', errorFields(error))
    }
  }

  /** Runs the turn to its end, whoever reads it. */
  async function run(turnId: string, turn: OpenedTurn, one: Running) {
    const { told, stop } = one
    let cancel = null as (() => void) | null
    let writing: Promise<void> = Promise.resolve()
    const later = () => {
      cancel ??= clock.after(WRITE_MS, () => {
        cancel = null
        writing = writing.then(() => write(turnId, told))
      })
    }
    let isStored = false
    // Told once it is on disk that the turn has ended.
    let errors: readonly AgentEvent[] = []
    await turn.run(stop.signal, (events) => {
      isStored ||= events.some(({ type }) => type === 'llm_end')
      if (events.some(({ type }) => type === 'error')) errors = events
      else told.add(events)
      later()
      return undefined
    })
    const isCut = isClosing && !isStored
    const last = isCut || isStored ? [] : errors.length > 0 ? errors : [stoppedEvent()]
    cancel?.()
    await writing
    const { firstId, events } = told.take()
    const batch = { turnId, firstId, events: [...events, ...last.map((event) => keptOf(event))] }
    await store.end(batch, isCut ? 'interrupted' : 'ended', clock.now())
    if (!isStored && !isCut) await pictures.sweep(one.tenantId)
    told.add(last)
    told.close()
    return isStored
  }

  /** A turn whose end could not be stored is interrupted once the database answers. */
  function endLater(turnId: string): void {
    clock.after(WRITE_MS, () => {
      if (isClosing) return
      const batch = { turnId, firstId: 1, events: [] }
      store.end(batch, 'interrupted', clock.now()).catch(() => endLater(turnId))
    })
  }

  function start(turnId: string, turn: OpenedTurn, { tenantId, sessionId }: Talk): ToldEvents {
    const told = new ToldEvents()
    told.add([{ type: 'turn', turn_id: nameOfId(turnId), session_id: sessionId }])
    const { promise: done, resolve } = Promise.withResolvers<boolean>()
    const session = sessionName(tenantId, sessionId)
    const one = { told, stop: new AbortController(), session, tenantId, done }
    running.set(turnId, one)
    run(turnId, turn, one)
      .catch((error: unknown) => {
        log.error('detached turn failed', errorFields(error))
        told.close()
        endLater(turnId)
        return false
      })
      .then((isStored) => {
        running.delete(turnId)
        resolve(isStored)
      })
    return told
  }

  return {
    start,

    /** What a turn has told that runs here. */
    told: (id: string): ToldEvents | undefined => running.get(id)?.told,

    /** Stops a turn that runs here; resolves with whether it was stored. */
    stop(id: string): Promise<boolean> | undefined {
      const one = running.get(id)
      one?.stop.abort(new TurnStopped())
      return one?.done
    },

    /** Ends the turns of a session here; what was written of them is not kept. */
    endSession(session: string): void {
      for (const one of running.values()) {
        if (one.session === session) one.stop.abort(new Error('the talk was deleted'))
      }
    },

    /** Leaves turns interrupted with their words, or waits until they are stored. */
    async close(): Promise<void> {
      isClosing = true
      const turns = [...running.values()]
      for (const { stop } of turns) stop.abort(appError('server_stopping'))
      await Promise.all(turns.map(({ done }) => done))
    },
  }
}
