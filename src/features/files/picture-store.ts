import type { PictureKind } from '../../core/picture-kind.ts'
import { type Db, type Statement, sql } from '../../storage/db.ts'

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

/** Pictures of people's talks. */
export const createPictureStore = (db: Db) => ({
  /** Statement that stores a picture; `turnId` is the turn that may yet make it one of a talk. */
  insert: (picture: NewPicture, turnId: string | null): Statement => sql`
    INSERT INTO picture (id, tenant_id, user_id, turn_id, media_type, width, height, bytes)
    VALUES (${picture.id}, ${picture.tenantId}, ${picture.userId}, ${turnId},
      ${picture.mediaType}, ${picture.width}, ${picture.height}, ${picture.bytes})`,

  /** Statement that makes a picture one of a talk. */
  link: ({ id, tenantId }: NewPicture, sessionId: string): Statement => sql`
    INSERT INTO session_picture (tenant_id, session_id, picture_id)
    VALUES (${tenantId}, ${sessionId}, ${id})`,

  /** The person's own picture. */
  find: (tenantId: string, userId: string, id: string) =>
    db.get<StoredPicture>(sql`
      SELECT media_type, bytes FROM picture
      WHERE id = ${id} AND tenant_id = ${tenantId} AND user_id = ${userId}`),

  /** Deletes pictures whose talks are gone. */
  async sweep(tenantId: string): Promise<void> {
    // No lock: a picture is stored with its talk or its turn, so none of them becomes wanted again.
    await db.run({ sql: `DELETE FROM picture WHERE tenant_id = ? AND ${ADRIFT}`, args: [tenantId] })
  },

  /** The same of all tenants. */
  async sweepAll(): Promise<void> {
    // No lock: as above.
    await db.run({ sql: `DELETE FROM picture WHERE ${ADRIFT}`, args: [] })
  },
})

export type PictureStore = ReturnType<typeof createPictureStore>
