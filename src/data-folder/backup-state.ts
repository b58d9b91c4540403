import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { databasePath } from './data-folder.ts'
import { statOrNull } from './files.ts'

const State = z.object({
  /** The backup that was stored last. */
  name: z.string(),
  /** Where it was stored. */
  place: z.string(),
  /** When it was taken, in epoch milliseconds. */
  at: z.number(),
  /** `databaseStamp` at that time; while it is the same, nothing was written. */
  stamp: z.string(),
  bytes: z.number().default(0),
})
export type BackupState = z.infer<typeof State>

const statePath = (dataDir: string) => join(dataDir, 'backup.json')

/** Null before the first backup, and when the file is damaged; then a new backup is made. */
export function readBackupState(dataDir: string): BackupState | null {
  try {
    return State.safeParse(JSON.parse(readFileSync(statePath(dataDir), 'utf8'))).data ?? null
  } catch {
    return null
  }
}

export function writeBackupState(dataDir: string, state: BackupState): void {
  const draft = `${statePath(dataDir)}.draft`
  writeFileSync(draft, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  renameSync(draft, statePath(dataDir))
}

/** A value that changes with each write to the database. */
export function databaseStamp(dataDir: string): string {
  const database = databasePath(dataDir)
  const marks = [database, `${database}-wal`].map((path) => {
    const found = statOrNull(path)
    return found ? `${found.size}-${found.mtimeMs}` : ''
  })
  return marks.join('/')
}
