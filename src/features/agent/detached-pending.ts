import type { Clock } from '../../core/clock.ts'
import { DETACHED_INTERRUPTED_MS } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import type { PictureRef } from '../files/pictures.ts'
import type { TurnFiles } from '../files/turn-files.ts'
import type { PendingTurn } from './detached-model.ts'
import { nameOfId } from './detached-names.ts'
import type { createRuns } from './detached-runs.ts'
import type { DetachedRow, DetachedStore } from './detached-store.ts'

export interface PendingOptions {
  readonly store: Pick<DetachedStore, 'pending'>
  readonly files: Pick<TurnFiles, 'named'>
  readonly clock: Pick<Clock, 'now'>
  /** The id of this process. */
  readonly server: string
  readonly settle: () => Promise<void>
  readonly runs: Pick<ReturnType<typeof createRuns>, 'told'>
  /** The words that are stored of an answer. */
  readonly partOf: (tenantId: string, id: string) => Promise<string>
}

/** Lists the person's turns of a session that have not ended. */
export function createPending(options: PendingOptions) {
  const { store, clock, server, settle, runs, partOf } = options

  async function rowsOf({ tenantId, userId }: Principal, sessionId: string) {
    const read = () => store.pending(tenantId, sessionId, userId ?? '')
    const rows = await read()
    if (!rows.some((row) => row.state === 'running' && row.server !== server)) return rows
    await settle()
    return read()
  }

  async function filesOf(principal: Principal, row: Pick<DetachedRow, 'files' | 'images'>) {
    const images = JSON.parse(row.images) as PictureRef[]
    const ids = JSON.parse(row.files) as string[]
    const files = [...ids, ...images.map(({ file_id }) => file_id)]
    return { files, named: await options.files.named(principal, ids), images }
  }

  return async (principal: Principal, sessionId: string): Promise<PendingTurn[]> => {
    const shown: PendingTurn[] = []
    for (const row of await rowsOf(principal, sessionId)) {
      const { id, state, user_text, started_at, state_at } = row
      const isOld = state === 'interrupted' && state_at <= clock.now() - DETACHED_INTERRUPTED_MS
      if (state === 'ended' || isOld) continue
      const partial = runs.told(id)?.text ?? (await partOf(principal.tenantId, id))
      const files = await filesOf(principal, row)
      shown.push({ turn_id: nameOfId(id), state, text: user_text, partial, ...files, started_at })
    }
    return shown
  }
}
