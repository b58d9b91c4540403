import { Database } from 'bun:sqlite'
import { eraseDeleted } from './erase.ts'
import { openExisting } from './inspect.ts'

/** The table that makes a database a backup. */
const BACKUP_TABLE = 'moonbase_backup'
const FORMAT = '1'
/** What the schema of a backup has besides that of the database. */
export const BACKUP_PARTS = [BACKUP_TABLE, `sqlite_autoindex_${BACKUP_TABLE}_1`]

/** What a backup carries besides the database. */
export interface BackupParts {
  readonly version: string
  readonly createdAt: string
  /** The text of secrets.json; null when there is none. */
  readonly secrets: string | null
}

/**
 * Writes the state of the database at this moment to `target`, which must not exist, while other
 * processes go on writing. VACUUM INTO reads one snapshot and keeps row ids.
 */
export function writeBackup(path: string, target: string, parts: BackupParts): void {
  const source = openExisting(path)
  try {
    source.query('VACUUM INTO ?').run(target)
  } finally {
    source.close()
  }
  const copy = new Database(target, { readwrite: true, create: false, strict: true })
  try {
    eraseDeleted(copy)
    copy.run(`CREATE TABLE ${BACKUP_TABLE} (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT`)
    const insert = copy.query(`INSERT INTO ${BACKUP_TABLE} (name, content) VALUES (?, ?)`)
    insert.run('format', FORMAT)
    insert.run('version', parts.version)
    insert.run('created_at', parts.createdAt)
    if (parts.secrets !== null) insert.run('secrets', parts.secrets)
  } finally {
    copy.close()
  }
}

/**
 * The parts of the backup at `path`; null when it is a database but no backup of a known format.
 */
export function readBackup(path: string): BackupParts | null {
  const db = new Database(path, { readonly: true, strict: true })
  try {
    const there = db.query('SELECT 1 FROM sqlite_master WHERE name = ?').get(BACKUP_TABLE)
    if (!there) return null
    const rows = db
      .query<{ name: string; content: string }, []>(`SELECT name, content FROM ${BACKUP_TABLE}`)
      .all()
    const parts = new Map(rows.map(({ name, content }) => [name, content]))
    if (parts.get('format') !== FORMAT) return null
    return {
      version: parts.get('version') ?? '',
      createdAt: parts.get('created_at') ?? '',
      secrets: parts.get('secrets') ?? null,
    }
  } finally {
    db.close()
  }
}

/** Turns a copy of a backup into a plain database; its pages with the secrets are overwritten. */
export function stripBackup(path: string): void {
  const db = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    db.run('PRAGMA secure_delete = ON')
    db.run(`DROP TABLE ${BACKUP_TABLE}`)
  } finally {
    db.close()
  }
}

/** Moves the write-ahead log into the main file, so that the file alone is whole. */
export function foldLog(path: string): void {
  const db = openExisting(path)
  try {
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}
