import { type Db, type Statement, sql } from '../../src/storage/db.ts'
import type { TestApp } from './app.ts'
import { postSse } from './sse.ts'

type Database = Pick<TestApp, 'url' | 'db'>

interface Caller {
  readonly headers: Readonly<Record<string, string>>
  readonly tenantId: string
}

/** A session of so many turns, each with an answer of so many letters. */
export async function longTalk(
  { url, db }: Database,
  { headers, tenantId }: Caller,
  id: string,
  { turns, letters, surface = '/v1' }: { turns: number; letters: number; surface?: string },
): Promise<void> {
  const body = { text: 'first', session_id: id, kb: false }
  await (await postSse(`${url}${surface}/agent`, { headers, body })).all()
  for (let seq = 2; seq <= turns; seq++) {
    await db.run(sql`
      INSERT INTO turn (tenant_id, session_id, seq, user_text, reply, created_at, details)
      SELECT tenant_id, session_id, CAST(${seq} AS INTEGER), ${`question ${seq}`},
        ${'x'.repeat(letters)}, created_at, details
      FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${id} AND seq = 1`)
  }
}

const copiesTurns = ({ sql: text }: Statement) =>
  text.startsWith('INSERT INTO turn ') && text.includes('SELECT tenant_id, ?, seq')

/**
 * Calls `meanwhile` before each piece of a branch that is copied, with its number from 1, until the
 * scope ends; a piece whose call throws is not copied.
 */
export function betweenPieces(db: Db, meanwhile: (piece: number) => Promise<unknown>): Disposable {
  const { batch } = db
  let pieces = 0
  db.batch = async (statements) => {
    if (statements.some(copiesTurns)) await meanwhile(++pieces)
    return batch.call(db, statements)
  }
  return {
    [Symbol.dispose]() {
      db.batch = batch
    },
  }
}

/**
 * Calls `meanwhile` before each piece of turns that is deleted, with its number from 1, until the
 * scope ends; a piece whose call throws is not deleted.
 */
export function betweenDeletions(
  db: Db,
  meanwhile: (piece: number) => Promise<unknown>,
): Disposable {
  const { run } = db
  let pieces = 0
  db.run = async (statement) => {
    if (statement.sql.startsWith('DELETE FROM turn')) await meanwhile(++pieces)
    return run.call(db, statement)
  }
  return {
    [Symbol.dispose]() {
      db.run = run
    },
  }
}
