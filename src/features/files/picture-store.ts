import type { PictureKind } from '../../core/picture-kind.ts'
import { inPieces, type Sized } from '../../core/pieces.ts'
import {
  type Db,
  joined,
  locked,
  type Reader,
  type Statement,
  sql,
  textRows,
} from '../../storage/db.ts'

export interface NewPicture extends PictureKind {
  readonly id: string
  readonly tenantId: string
  readonly userId: string
  readonly bytes: Uint8Array
}

export interface StoredPicture {
  readonly media_type: string
  readonly bytes: Uint8Array
}

/** Pictures that belong to no talk, and to no turn that may still be stored. */
const ADRIFT = `NOT EXISTS (SELECT 1 FROM session_picture l WHERE l.picture_id = picture.id)
  AND (turn_id IS NULL OR NOT EXISTS (SELECT 1 FROM talk_turn t
    WHERE t.id = picture.turn_id AND t.state <> 'ended'))`

/** Deletes them a few at a time: a hundred of 5 MB at once would delay all writes by seconds. */
async function sweep(db: Db, reader: Reader, tenantId: string | null): Promise<void> {
  const adrift = { sql: `AND ${ADRIFT}`, args: [] }
  const which = tenantId === null ? sql`1 = 1` : sql`tenant_id = ${tenantId}`
  const rows = await reader.all<Sized & { id: string }>(
    tenantId ?? '',
    joined(sql`SELECT id, octet_length(bytes) AS whole FROM picture WHERE`, which, adrift),
  )
  for (const piece of inPieces(rows)) {
    const ids = textRows(piece.map(({ id }) => id))
    // No lock: a picture is stored with its talk or its turn, so none of them becomes wanted again.
    await db.run(
      joined(
        sql`DELETE FROM picture WHERE id IN (SELECT value ->> 0 FROM json_each(${ids}))`,
        adrift,
      ),
    )
  }
}

/** Pictures of people's talks. `reader` looks for those to delete, among all. */
export const createPictureStore = (db: Db, reader: Reader) => ({
  /**
   * Statement that stores a picture, unless other turns have taken the last place among the `max`
   * files and pictures of the tenant; `turnId` is the turn that may yet make it one of a talk.
   */
  insert: (picture: NewPicture, turnId: string | null, now: number, max: number): Statement =>
    locked('chat_file', picture.tenantId)`
      INSERT INTO picture (id, tenant_id, user_id, turn_id, media_type, width, height, bytes)
      SELECT ${picture.id}, ${picture.tenantId}, ${picture.userId}, ${turnId},
        ${picture.mediaType}, CAST(${picture.width} AS INTEGER),
        CAST(${picture.height} AS INTEGER), ${picture.bytes}
      WHERE (SELECT count(*) FROM chat_file
        WHERE tenant_id = ${picture.tenantId} AND expires_at > ${now})
        + (SELECT count(*) FROM picture WHERE tenant_id = ${picture.tenantId}) < ${max}`,

  /** Statement that makes a picture, if it was stored, one of a talk. */
  // No lock: a picture that was stored goes with its talk or its turn alone.
  link: ({ id, tenantId }: NewPicture, sessionId: string): Statement => sql`
    INSERT INTO session_picture (tenant_id, session_id, picture_id)
    SELECT tenant_id, ${sessionId}, id FROM picture WHERE id = ${id} AND tenant_id = ${tenantId}`,

  /** The person's own picture. */
  find: (tenantId: string, userId: string, id: string) =>
    db.get<StoredPicture>(sql`
      SELECT media_type, bytes FROM picture
      WHERE id = ${id} AND tenant_id = ${tenantId} AND user_id = ${userId}`),

  /** Deletes pictures whose talks are gone. */
  sweep: (tenantId: string) => sweep(db, reader, tenantId),

  /** The same of all tenants. */
  sweepAll: () => sweep(db, reader, null),
})

export type PictureStore = ReturnType<typeof createPictureStore>
