import {
  type Db,
  expectRows,
  type Statement,
  sql,
  storedAsExpected,
  textRows,
} from '../../storage/db.ts'
import { GONE, UNFINISHED } from './access.ts'
import { turnsOf } from './branch-store.ts'
import type { Piece } from './pieces.ts'

export interface NewBranch {
  readonly tenantId: string
  /** The session that is branched, and its number. */
  readonly from: string
  readonly num: number
  readonly id: string
  /** The last turn that the branch has; 0 for none. */
  readonly seq: number
  /** What is copied, oldest first. */
  readonly pieces: readonly Piece[]
  /** Only turns that this app answered; null: all. */
  readonly appId: string | null
  /** Turns up to this number are in the summary alone. */
  readonly foldedThrough: number
  readonly summary: string
  /** Files that later turns alone have named, which it does not get. */
  readonly without: readonly string[]
  /** Gets the number of the version behind it. */
  readonly title: string
  readonly at: string
  /** It counts as used when its last turn was, not now. */
  readonly forQuestion: boolean
}

/** The row that will be the branch. */
const begin = ({ tenantId, from, num, id, at }: NewBranch): Statement =>
  // No lock: `show` looks again whether the session is there.
  expectRows(
    1,
    sql`
      INSERT INTO session (tenant_id, id, turn_count, first_at, last_at, user_id)
      SELECT tenant_id, ${id}, 0, ${at}, ${at}, ${UNFINISHED} FROM session
      WHERE tenant_id = ${tenantId} AND id = ${from} AND num = ${num}`,
  )

/** Copies some turns, and the pictures that they show. */
function copy(branch: NewBranch, { first, last, count }: Piece): readonly Statement[] {
  const { tenantId, from, num, id } = branch
  const turns = turnsOf(tenantId, from, branch.appId)
  // No lock: it holds the row against `giveUp`, and `show` looks again for the session.
  const held = sql`
    UPDATE session SET from_seq = ${last}
    WHERE tenant_id = ${tenantId} AND id = ${id} AND user_id = ${UNFINISHED}
      AND EXISTS (SELECT 1 FROM session s
        WHERE s.tenant_id = ${tenantId} AND s.id = ${from} AND s.num = ${num})`
  // No lock: turns of the branch have no other writer yet.
  const copies = {
    sql: `INSERT INTO turn (tenant_id, session_id, seq, app_id, user_text, reply, created_at,
        details)
      SELECT tenant_id, ?, seq, app_id, user_text, reply, created_at, details FROM turn
      WHERE ${turns.sql} AND seq >= ? AND seq <= ?`,
    args: [id, ...turns.args, first, last],
  }
  // No lock: as above. They stay also when the other version goes. The turns are read once, and
  // taken apart only where they have pictures.
  const pictures = sql`
    INSERT INTO session_picture (tenant_id, session_id, picture_id)
    SELECT tenant_id, ${id}, picture_id FROM session_picture
    WHERE tenant_id = ${tenantId} AND session_id = ${from}
      AND picture_id IN (SELECT image.value ->> 'file_id' FROM turn t
        CROSS JOIN json_each('[' || t.details || ']') told
        CROSS JOIN json_each(CAST(told.value -> 'images' AS TEXT)) image
        WHERE t.tenant_id = ${tenantId} AND t.session_id = ${id}
          AND t.seq >= ${first} AND t.seq <= ${last} AND t.details LIKE '%"images":[%')
    ON CONFLICT DO NOTHING`
  return [expectRows(1, held), expectRows(count, copies), pictures]
}

/** Makes the whole branch a version of its conversation. */
function show(branch: NewBranch): readonly Statement[] {
  const { tenantId, from, num, id, seq, at } = branch
  const count = branch.pieces.reduce((sum, piece) => sum + piece.count, 0)
  // Not the name of the session: a deleted name is free, also for other people.
  const family = sql`
    UPDATE session SET family = coalesce(family, ${id})
    WHERE tenant_id = ${tenantId} AND id = ${from} AND num = ${num}
      AND coalesce(user_id, '') <> ${GONE}`
  const used = branch.forQuestion ? null : at
  // No lock: the statement before it holds the row that this one reads.
  const shown = sql`
    UPDATE session SET user_id = s.user_id, app_id = s.app_id, device_id = s.device_id,
      origin = s.origin, folder = s.folder, pinned = s.pinned, archived = s.archived,
      family = s.family, from_seq = ${seq}, turn_count = ${count},
      last_at = coalesce(CAST(${used} AS TEXT), (SELECT t.created_at FROM turn t
        WHERE t.tenant_id = ${tenantId} AND t.session_id = ${id}
        ORDER BY t.seq DESC LIMIT 1), s.first_at),
      first_at = coalesce((SELECT t.created_at FROM turn t
        WHERE t.tenant_id = ${tenantId} AND t.session_id = ${id} ORDER BY t.seq LIMIT 1), ${at}),
      summary = ${branch.summary}, folded_through = ${branch.foldedThrough},
      auto_title = CAST(${branch.title} AS TEXT) || ' (' || CAST((SELECT count(*) + 1
        FROM session o WHERE o.tenant_id = ${tenantId} AND o.family = s.family) AS TEXT) || ')',
      index_below = ${seq + 1}
    FROM session s
    WHERE session.tenant_id = ${tenantId} AND session.id = ${id} AND session.user_id = ${UNFINISHED}
      AND s.tenant_id = ${tenantId} AND s.id = ${from}`
  // No lock: as above.
  const files = sql`
    INSERT INTO session_file (tenant_id, session_id, file_id)
    SELECT tenant_id, ${id}, file_id FROM session_file
    WHERE tenant_id = ${tenantId} AND session_id = ${from}
      AND file_id NOT IN (SELECT value ->> 0 FROM json_each(${textRows(branch.without)}))`
  return [expectRows(1, family), expectRows(1, shown), files]
}

/**
 * Copies turns into branches. Each step is false when the session was deleted meanwhile, or no
 * longer has the turns that were found.
 */
export function createBranchCopies(db: Db) {
  const stored = (statements: readonly Statement[]) => storedAsExpected(db.batch(statements))
  return {
    /** All steps in one transaction. */
    whole: (branch: NewBranch): Promise<boolean> =>
      stored([
        begin(branch),
        ...branch.pieces.flatMap((piece) => copy(branch, piece)),
        ...show(branch),
      ]),

    begin: (branch: NewBranch): Promise<boolean> => stored([begin(branch)]),
    copy: (branch: NewBranch, piece: Piece): Promise<boolean> => stored(copy(branch, piece)),
    show: (branch: NewBranch): Promise<boolean> => stored(show(branch)),

    /** Branches that are not whole. */
    unfinished: () =>
      db.all<{ tenant_id: string; id: string }>(sql`
        SELECT tenant_id, id FROM session WHERE user_id = ${UNFINISHED}`),

    /** No step of the branch goes on after this. A whole one stays. */
    async giveUp(tenantId: string, id: string): Promise<void> {
      await db.run(sql`
        UPDATE session SET user_id = ${GONE}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND user_id = ${UNFINISHED}`)
    },
  }
}

export type BranchCopies = ReturnType<typeof createBranchCopies>
