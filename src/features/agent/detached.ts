import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import {
  DETACHED_ENDED_MS,
  DETACHED_INTERRUPTED_MS,
  DETACHED_TURNS_MAX,
} from '../../core/limits/contract.ts'
import type { Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import { createLoopTurns } from '../../core/time-slice.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { Announcer, Leases } from '../../storage/shared-state.ts'
import type { KeptPictures, Pictures } from '../files/pictures.ts'
import type { TurnFiles } from '../files/turn-files.ts'
import type { SessionStore } from '../sessions/store.ts'
import { idOfName, nameOfId } from './detached-names.ts'
import { createOnce } from './detached-once.ts'
import { createPending } from './detached-pending.ts'
import { createReading, missing } from './detached-reading.ts'
import { createRuns, fromMemory, type InTurn, type Produce, sessionName } from './detached-runs.ts'
import { createServers } from './detached-servers.ts'
import type { DetachedStore, NewDetached } from './detached-store.ts'
import { rememberedText } from './prompt.ts'
import type { Agent } from './service.ts'
import type { TurnRequest } from './turn-config.ts'

/** How often another server's turn is looked at. */
const LOOK_MS = 250
/** How long a stop waits for the server that runs the turn. */
const STOP_MS_MAX = 10_000

export interface DetachedOptions {
  readonly store: DetachedStore
  readonly sessions: Pick<SessionStore, 'ownerOf'>
  /** What a session becomes that a caller begins. */
  readonly beginning: (principal: Principal, sessionId: string) => NewDetached['beginning']
  readonly agent: Pick<Agent, 'openTurn'>
  readonly pictures: Pick<Pictures, 'sweep'>
  readonly files: Pick<TurnFiles, 'named'>
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  readonly leases: Pick<Leases, 'hold' | 'held' | 'heldByLiving'>
  readonly announcer: Pick<Announcer, 'announce' | 'on'>
}

/**
 * Turns of people that go on when their reader leaves. What they tell is in memory for readers at
 * this server, and every second on disk for others, and for after a crash.
 */
export function createDetached(options: DetachedOptions) {
  const { store, clock, log, announcer, agent, pictures } = options
  const server = newId()
  const runs = createRuns({ store, clock, log, pictures })
  const { live, settle, giveUp } = createServers({ ...options, server })
  const loop = createLoopTurns(clock.steady)
  const inTurnOf =
    (tenantId: string): InTurn =>
    (work) =>
      loop(tenantId, work)
  const { find, fromDisk, partOf } = createReading({ store, clock, server, settle, inTurnOf })

  /** What the turn tells after event `after`, to its end. */
  async function read(principal: Principal, name: string, after: number): Promise<Produce> {
    const { id, state } = await find(principal, name)
    if (state === 'interrupted') throw missing()
    const told = runs.told(id)
    const inTurn = inTurnOf(principal.tenantId)
    return told ? fromMemory(told, after, inTurn) : fromDisk(principal, id, after)
  }

  announcer.on('turn stopped', async (id) => runs.stop(id))
  announcer.on('talk deleted', async (session) => runs.endSession(session))

  return {
    settle,
    giveUp,

    /**
     * Stores the question and begins the turn. Throws `not_found` for a session of somebody else,
     * and `rate_limited` when the person has too many turns. One with a name is begun by `once`.
     */
    async begin(
      principal: Principal,
      request: TurnRequest & { readonly pictures?: KeptPictures },
      sessionId: string,
      name: string | null,
    ): Promise<Produce> {
      const { tenantId, userId } = principal
      if (userId === null) throw appError('not_signed_in')
      const id = name === null ? newId() : idOfName(tenantId, userId, name)
      const storing = () => [store.storing(id, clock.now())]
      const turn = await agent.openTurn(principal, { ...request, storing }, sessionId)
      try {
        await live()
        const row = newRow(options, { id, server, principal, userId, request, sessionId })
        await claimTurn(options, row, settle)
      } catch (error) {
        turn.drop()
        throw error
      }
      return fromMemory(runs.start(id, turn, { tenantId, sessionId }), 0, inTurnOf(tenantId))
    },

    read,

    /** Begins a turn that its person has named, or reads it from its beginning. */
    once: createOnce({ clock, store, read: (principal, name) => read(principal, name, 0) }),

    /** Stops the model; resolves once what was written is on disk. */
    async stop(principal: Principal, name: string): Promise<{ turn_id: string; stored: boolean }> {
      let row = await find(principal, name)
      const { id } = row
      const done = runs.stop(id)
      if (done) return { turn_id: nameOfId(id), stored: await done }
      if (row.state === 'running') await announcer.announce('turn stopped', id)
      const until = clock.steady() + STOP_MS_MAX
      while (row.state === 'running' && clock.steady() < until) {
        await clock.sleep(LOOK_MS)
        row = await find(principal, id)
      }
      return { turn_id: nameOfId(id), stored: row.stored === 1 }
    },

    pending: createPending({ ...options, server, settle, runs, partOf }),

    /** Drops an interrupted turn. Throws `turn_running` for one that runs. */
    async drop(principal: Principal, name: string): Promise<{ id: string; deleted: true }> {
      const { id, state } = await find(principal, name)
      if (state === 'running') throw appError('turn_running')
      if (!(await store.drop(principal.tenantId, principal.userId ?? '', id))) throw missing()
      await pictures.sweep(principal.tenantId)
      return { id: nameOfId(id), deleted: true }
    },

    /** Ends the turns of a session that was deleted, at every server. */
    async endSession(tenantId: string, sessionId: string): Promise<void> {
      const session = sessionName(tenantId, sessionId)
      runs.endSession(session)
      await announcer.announce('talk deleted', session)
    },

    prune: () =>
      store.prune(clock.now() - DETACHED_ENDED_MS, clock.now() - DETACHED_INTERRUPTED_MS),

    close: runs.close,
  }
}

interface Begun {
  readonly id: string
  readonly server: string
  readonly principal: Principal
  readonly userId: string
  readonly request: TurnRequest & { readonly pictures?: KeptPictures }
  readonly sessionId: string
}

function newRow(
  { clock, beginning }: Pick<DetachedOptions, 'clock' | 'beginning'>,
  { id, server, principal, userId, request, sessionId }: Begun,
): NewDetached {
  return {
    id,
    tenantId: principal.tenantId,
    sessionId,
    userId,
    appId: principal.appId,
    server,
    text: rememberedText(request.text, request.images),
    files: request.files ?? [],
    images: request.pictures?.images ?? [],
    also: request.pictures?.pending(id) ?? [],
    at: clock.iso(),
    now: clock.now(),
    beginning: beginning(principal, sessionId),
  }
}

/**
 * Stores the question. Turns of dead servers no longer count when it is tried again. Throws
 * `not_found` and `rate_limited`.
 */
async function claimTurn(
  { store, sessions }: Pick<DetachedOptions, 'store' | 'sessions'>,
  row: NewDetached,
  settle: () => Promise<void>,
): Promise<void> {
  if (await store.begin(row, DETACHED_TURNS_MAX)) return
  await settle()
  if (await store.begin(row, DETACHED_TURNS_MAX)) return
  const owner = (await sessions.ownerOf(row.tenantId, row.sessionId)) ?? null
  if (owner !== null && owner !== row.userId) throw appError('not_found', { what: 'session' })
  throw appError('rate_limited', {}, { headers: { 'retry-after': '5' } })
}

export type Detached = ReturnType<typeof createDetached>
