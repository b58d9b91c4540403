import tables from './0001-tables.sql' with { type: 'text' }

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
  { name: '0001-tables', sql: tables },
]
