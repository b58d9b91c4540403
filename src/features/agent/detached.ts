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
import type { KeptPictures, PictureRef, Pictures } from '../files/pictures.ts'
import type { TurnFiles } from '../files/turn-files.ts'
import type { SessionStore } from '../sessions/store.ts'
import type { PendingTurn } from './detached-model.ts'
import { createReading, missing } from './detached-reading.ts'
import { createRuns, fromMemory, type InTurn, type Produce, sessionName } from './detached-runs.ts'
import { createServers } from './detached-servers.ts'
import type { DetachedRow, DetachedStore, NewDetached } from './detached-store.ts'
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
  readonly leases: Pick<Leases, 'hold' | 'held'>
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
  const { live, settle } = createServers({ ...options, server })
  const loop = createLoopTurns(clock.steady)
  const inTurnOf =
    (tenantId: string): InTurn =>
    (work) =>
      loop(tenantId, work)
  const { find, fromDisk, partOf } = createReading({ store, clock, server, settle, inTurnOf })

  announcer.on('turn stopped', async (id) => runs.stop(id))
  announcer.on('talk deleted', async (session) => runs.endSession(session))

  return {
    settle,

    /**
     * Stores the question and begins the turn. Throws `not_found` for a session of somebody else,
     * and `rate_limited` when the person has too many turns.
     */
    async begin(
      principal: Principal,
      request: TurnRequest & { readonly pictures?: KeptPictures },
      sessionId: string,
    ): Promise<Produce> {
      const { tenantId, userId } = principal
      if (userId === null) throw appError('not_signed_in')
      const id = newId()
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

    /** What the turn tells after event `after`, to its end. */
    async read(principal: Principal, id: string, after: number): Promise<Produce> {
      const row = await find(principal, id)
      if (row.state === 'interrupted') throw missing()
      const told = runs.told(id)
      const inTurn = inTurnOf(principal.tenantId)
      return told ? fromMemory(told, after, inTurn) : fromDisk(principal, id, after)
    },

    /** Stops the model; resolves once what was written is on disk. */
    async stop(principal: Principal, id: string): Promise<{ turn_id: string; stored: boolean }> {
      let row = await find(principal, id)
      const done = runs.stop(id)
      if (done) return { turn_id: id, stored: await done }
      if (row.state === 'running') await announcer.announce('turn stopped', id)
      const until = clock.steady() + STOP_MS_MAX
      while (row.state === 'running' && clock.steady() < until) {
        await clock.sleep(LOOK_MS)
        row = await find(principal, id)
      }
      return { turn_id: id, stored: row.stored === 1 }
    },

    /** The person's turns of a session that have not ended. */
    async pending(principal: Principal, sessionId: string): Promise<PendingTurn[]> {
      const read = () => store.pending(principal.tenantId, sessionId, principal.userId ?? '')
      let rows = await read()
      if (rows.some((row) => row.state === 'running' && row.server !== server)) {
        await settle()
        rows = await read()
      }
      const shown: PendingTurn[] = []
      for (const { id, state, user_text, started_at, state_at, ...row } of rows) {
        const isOld = state === 'interrupted' && state_at <= clock.now() - DETACHED_INTERRUPTED_MS
        if (state === 'ended' || isOld) continue
        const partial = runs.told(id)?.text ?? (await partOf(principal.tenantId, id))
        const told = { turn_id: id, state, text: user_text, partial, started_at }
        shown.push({ ...told, ...(await filesOf(options, principal, row)) })
      }
      return shown
    },

    /** Drops an interrupted turn. Throws `turn_running` for one that runs. */
    async drop(principal: Principal, id: string): Promise<{ id: string; deleted: true }> {
      const row = await find(principal, id)
      if (row.state === 'running') throw appError('turn_running')
      if (!(await store.drop(principal.tenantId, principal.userId ?? '', id))) throw missing()
      await pictures.sweep(principal.tenantId)
      return { id, deleted: true }
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

async function filesOf(
  { files: { named } }: Pick<DetachedOptions, 'files'>,
  principal: Principal,
  row: Pick<DetachedRow, 'files' | 'images'>,
) {
  const images = JSON.parse(row.images) as PictureRef[]
  const ids = JSON.parse(row.files) as string[]
  const files = [...ids, ...images.map(({ file_id }) => file_id)]
  return { files, named: await named(principal, ids), images }
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
