import { type Db, locked, sql } from '../../../storage/db.ts'

export interface PasskeyRow {
  readonly id: string
  readonly user_id: string
  readonly credential_id: string
  readonly public_key: Uint8Array
  readonly counter: number
  readonly name: string
  /** JSON. */
  readonly transports: string
  readonly backed_up: number
  readonly created_at: string
  readonly last_used_at: string | null
}

/** A passkey, the address of its person, and a tenant of theirs. */
export interface OwnedPasskey extends PasskeyRow {
  readonly email: string
  readonly tenant_id: string
}

/** Passkeys of people. */
export function createPasskeyStore(db: Db) {
  return {
    list: (userId: string) =>
      db.all<PasskeyRow>(sql`
        SELECT * FROM passkey WHERE user_id = ${userId} ORDER BY created_at DESC, id DESC`),

    find: (userId: string, id: string) =>
      db.get<PasskeyRow>(sql`SELECT * FROM passkey WHERE user_id = ${userId} AND id = ${id}`),

    byCredential: (credentialId: string) =>
      db.get<OwnedPasskey>(sql`
        SELECT p.*, u.email, u.tenant_id FROM passkey p JOIN "user" u ON u.id = p.user_id
        WHERE p.credential_id = ${credentialId}`),

    /** False, and nothing is stored, at `most` passkeys, or when somebody has this credential. */
    async insert(row: PasskeyRow, most: number): Promise<boolean> {
      // The lock keeps one person from having too many; two people race on the unique column.
      const { changes } = await db.run(locked('passkey', row.user_id)`
        INSERT INTO passkey (id, user_id, credential_id, public_key, counter, name, transports,
          backed_up, created_at)
        SELECT ${row.id}, ${row.user_id}, ${row.credential_id}, ${row.public_key}, ${row.counter},
          ${row.name}, ${row.transports}, ${row.backed_up}, ${row.created_at}
        WHERE (SELECT count(*) FROM passkey WHERE user_id = ${row.user_id}) < ${most}
        ON CONFLICT (credential_id) DO NOTHING`)
      return changes === 1
    },

    /** Notes a use. False when another use has counted as far meanwhile. */
    async used(id: string, counter: number, backedUp: boolean, at: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE passkey SET counter = ${counter}, backed_up = ${backedUp ? 1 : 0},
          last_used_at = ${at}
        WHERE id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))`)
      return changes === 1
    },

    async rename(userId: string, id: string, name: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE passkey SET name = ${name} WHERE user_id = ${userId} AND id = ${id}`)
      return changes === 1
    },

    async remove(userId: string, id: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        DELETE FROM passkey WHERE user_id = ${userId} AND id = ${id}`)
      return changes === 1
    },
  }
}

export type PasskeyStore = ReturnType<typeof createPasskeyStore>
