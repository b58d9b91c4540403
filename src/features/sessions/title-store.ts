import { type Db, expectRows, locked, sql, storedAsExpected } from '../../storage/db.ts'
import type { TurnIndex } from '../../storage/indexes.ts'
import { indexTitle } from './indexing-store.ts'

/** The first turn of a talk; a talk that is begun anew under the same id has another one. */
export interface FirstTurn {
  readonly tenantId: string
  readonly userId: string
  readonly sessionId: string
  readonly seq: number
  readonly at: string
}

export interface TitleStoreOptions {
  readonly db: Db
  readonly index: Pick<TurnIndex, 'put'>
}

/** Titles that a model gives. */
export const createTitleStore = ({ db, index }: TitleStoreOptions) => ({
  async isUntitled({ tenantId, userId, sessionId }: FirstTurn): Promise<boolean> {
    const row = await db.get(sql`
      SELECT 1 AS one FROM session WHERE tenant_id = ${tenantId} AND id = ${sessionId}
        AND user_id = ${userId} AND title IS NULL AND auto_title IS NULL`)
    return row !== null
  },

  /** False, and nothing changes, when the talk was deleted or a person has named it meanwhile. */
  put({ tenantId, userId, sessionId, seq, at }: FirstTurn, title: string): Promise<boolean> {
    const name = locked('session', tenantId, sessionId)`
      UPDATE session SET auto_title = ${title}
      WHERE tenant_id = ${tenantId} AND id = ${sessionId} AND user_id = ${userId}
        AND title IS NULL AND auto_title IS NULL
        AND EXISTS (SELECT 1 FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
          AND seq = ${seq} AND created_at = ${at})`
    const words = indexTitle(index, { tenantId, sessionId }, title)
    return storedAsExpected(db.batch([expectRows(1, name), words]))
  },
})

export type TitleStore = ReturnType<typeof createTitleStore>
