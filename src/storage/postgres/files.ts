import { type Db, sql } from '../db.ts'
import type { SharedFiles } from '../shared-state.ts'

/** A piece travels as text of twice its size, and its making must not hold the event loop. */
const PIECE_BYTES = 256 * 1024

/** Files in the database, for as long as a server may have to work on them. */
export function createSharedFiles(db: Pick<Db, 'get'>): SharedFiles {
  const piece = (id: string, number: number) =>
    db.get<{ bytes: Uint8Array }>(
      sql`SELECT bytes FROM shared_file WHERE id = ${id} AND piece = ${number}`,
    )

  async function* pieces(id: string, first: Uint8Array) {
    yield first
    for (let number = 1; ; number++) {
      const next = await piece(id, number)
      if (!next) return
      yield next.bytes
    }
  }

  return {
    async keep(id, bytes) {
      // The first one last: with it the file is whole.
      for (let number = Math.ceil(bytes.length / PIECE_BYTES) - 1; number >= 0; number--) {
        const part = bytes.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES)
        await db.get(sql`
          INSERT INTO shared_file (id, piece, bytes, at)
          VALUES (${id}, ${number}, ${part}, now())`)
      }
    },

    async fetch(id) {
      const first = await piece(id, 0)
      return first && pieces(id, first.bytes)
    },

    async remove(id) {
      await db.get(sql`DELETE FROM shared_file WHERE id = ${id}`)
    },
  }
}
