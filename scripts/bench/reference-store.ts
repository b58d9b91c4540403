import { Database } from 'bun:sqlite'
import { join } from 'node:path'

/** Additional keys, so that the look-up searches an index. */
const OTHER_KEYS = 1_000
/** Rows of history that a turn reads. */
const HISTORY_ROWS = 40

const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest()

/**
 * Only the storage work of one turn: key by hash, history, and the turn in one commit. `durable`
 * commits survive a power cut; others only a crash of the process.
 */
export function openStore(folder: string, key: string, durable: boolean) {
  const db = new Database(join(folder, 'reference.db'))
  db.run('PRAGMA journal_mode = WAL')
  db.run(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}`)
  db.run('CREATE TABLE key (hash BLOB PRIMARY KEY, tenant TEXT NOT NULL) WITHOUT ROWID')
  db.run(`CREATE TABLE message (tenant TEXT, session TEXT, id INTEGER, role TEXT, content TEXT,
    PRIMARY KEY (tenant, session, id)) WITHOUT ROWID`)
  db.run('CREATE TABLE log (id INTEGER PRIMARY KEY, tenant TEXT, status INTEGER, ts INTEGER)')
  const addKey = db.prepare('INSERT INTO key VALUES (?, ?)')
  db.transaction(() => {
    for (let i = 0; i < OTHER_KEYS; i++) addKey.run(hash(`other ${i}`), `tenant ${i}`)
    addKey.run(hash(key), 'tenant')
  })()

  const findKey = db.prepare<{ tenant: string }, [Uint8Array]>(
    'SELECT tenant FROM key WHERE hash = ?',
  )
  const readHistory = db.prepare<{ role: string; content: string }, [string, string, number]>(
    `SELECT role, content FROM message WHERE tenant = ? AND session = ? ORDER BY id DESC LIMIT ?`,
  )
  const addMessage = db.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)')
  const addLog = db.prepare('INSERT INTO log (tenant, status, ts) VALUES (?, 200, ?)')
  let id = 0
  const addTurn = db.transaction((tenant: string, session: string, text: string, reply: string) => {
    addMessage.run(tenant, session, ++id, 'user', text)
    addMessage.run(tenant, session, ++id, 'assistant', reply)
    addLog.run(tenant, Date.now())
  })

  return {
    tenantOf: (authorization: string | null) =>
      findKey.get(hash(authorization?.slice('Bearer '.length) ?? ''))?.tenant ?? null,
    history: (tenant: string, session: string) =>
      readHistory.all(tenant, session, HISTORY_ROWS).reverse(),
    addTurn,
  }
}
