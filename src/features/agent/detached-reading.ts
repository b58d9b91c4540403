import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { DETACHED_ENDED_MS } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { InTurn, Produce } from './detached-runs.ts'
import type { DetachedRow, DetachedStore } from './detached-store.ts'
import { isLast, type Told, textOf, toldIn } from './told.ts'

/** How often a turn of another server is looked at. */
const LOOK_MS = 250
/** How often it is looked at once it has ended, until its last event is there. */
const LAST_LOOKS = 40

export const missing = () => appError('not_found', { what: 'turn' })

interface Look {
  readonly row: DetachedRow | null
  /** The newest events, of one row. */
  readonly tail: readonly Told[]
}

export interface ReadingOptions {
  readonly store: Pick<DetachedStore, 'find' | 'events'>
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'after'>
  /** The id of this process. */
  readonly server: string
  readonly settle: () => Promise<void>
  /** Work for readers of a tenant, which take turns with those of others. */
  readonly inTurnOf: (tenantId: string) => InTurn
}

/** Reads turns from the database. */
export function createReading({ store, clock, server, settle, inTurnOf }: ReadingOptions) {
  const looks = new Map<string, Promise<Look>>()

  /** As `find`, with the state that the turn has now. */
  async function settled(find: () => Promise<DetachedRow | null>): Promise<DetachedRow | null> {
    const row = await find()
    if (row?.state !== 'running' || row.server === server) return row
    await settle()
    return find()
  }

  /** The person's turn that has not been given up. */
  async function find({ tenantId, userId }: Principal, id: string): Promise<DetachedRow> {
    const row = await settled(() => store.find(tenantId, userId ?? '', id))
    const isOld = row?.state === 'ended' && row.state_at <= clock.now() - DETACHED_ENDED_MS
    if (!row || isOld) throw missing()
    return row
  }

  /** The stored events after number `after`, few at a time. */
  async function* stored(tenantId: string, id: string, after: number) {
    const inTurn = inTurnOf(tenantId)
    for (let at = after; ; ) {
      const rows = await store.events(id, at)
      let events: readonly Told[] = []
      await inTurn(async () => {
        events = toldIn(rows, at)
      })
      const last = events.at(-1)
      if (last === undefined) return
      yield events
      at = last.id
    }
  }

  /** The words that are stored of an answer. */
  async function partOf(tenantId: string, id: string): Promise<string> {
    let text = ''
    for await (const events of stored(tenantId, id, 0)) text = textOf(events, text)
    return text
  }

  /** A turn as it is now; one look serves all who read it here. */
  function look({ tenantId, userId }: Principal, id: string): Promise<Look> {
    const name = `${tenantId} ${userId} ${id}`
    const known = looks.get(name)
    if (known) return known
    const fresh = (async () => {
      const row = await settled(() => store.find(tenantId, userId ?? '', id))
      return { row, tail: toldIn(await store.events(id, Number.MAX_SAFE_INTEGER - 1), 0) }
    })()
    looks.set(name, fresh)
    clock.after(LOOK_MS / 2, () => looks.delete(name))
    return fresh
  }

  const fromDisk =
    (principal: Principal, id: string, after: number): Produce =>
    async (signal, emit) => {
      let lastLooks = LAST_LOOKS
      for (let at = after; !signal.aborted; ) {
        const { row, tail } = await look(principal, id)
        const newest = tail.at(-1)
        if (newest && newest.id > at) {
          const isNear = (tail[0]?.id ?? 0) <= at + 1
          const rest = tail.filter((event) => event.id > at)
          for await (const events of isNear ? [rest] : stored(principal.tenantId, id, at)) {
            at = events.at(-1)?.id ?? at
            await emit(events)
            if (signal.aborted) return
          }
        }
        if (row?.state !== 'running') {
          // A turn ends when it is stored, which may be before its last events are.
          const isWhole = newest !== undefined && isLast(newest.type) && newest.id <= at
          if (row?.state !== 'ended' || isWhole || --lastLooks < 0) return
        }
        await clock.sleep(LOOK_MS, signal).catch(() => {})
      }
    }

  return { find, fromDisk, partOf }
}
