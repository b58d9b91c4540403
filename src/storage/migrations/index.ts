import init from './0001-init.sql' with { type: 'text' }
import talk from './0002-talk.sql' with { type: 'text' }
import files from './0003-files.sql' with { type: 'text' }

export interface Migration {
  readonly name: string
  readonly sql: string
}

/**
 * In order, without gaps; a released one does not change. Imported as text, so the executable
 * carries them.
 */
export const MIGRATIONS: readonly Migration[] = [
  // All tables of the first release.
  { name: '0001-init', sql: init },
  { name: '0002-talk', sql: talk },
  { name: '0003-files', sql: files },
]
