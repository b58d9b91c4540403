import { type Db, sql } from '../../storage/db.ts'

/** Turns by share and day. */
export const createShareDays = (db: Db) => ({
  /** Counts a turn of the day; false when `most` were counted. */
  async takeTurn(id: string, day: number, most: number): Promise<boolean> {
    // No lock: the row of the day is changed only while its own count allows it.
    const { changes } = await db.run(sql`
      INSERT INTO share_day (share_id, day, turns)
      SELECT id, ${day}, 1 FROM share WHERE id = ${id}
      ON CONFLICT (share_id, day) DO UPDATE SET turns = share_day.turns + 1
        WHERE share_day.turns < ${most}`)
    return changes === 1
  },

  /** Takes back what `takeTurn` has counted. */
  async giveTurnBack(id: string, day: number): Promise<void> {
    await db.run(sql`
      UPDATE share_day SET turns = turns - 1
      WHERE share_id = ${id} AND day = ${day} AND turns > 0`)
  },

  /** Deletes the counts of days before `day`. */
  async prune(day: number): Promise<void> {
    await db.run(sql`DELETE FROM share_day WHERE day < ${day}`)
  },
})
