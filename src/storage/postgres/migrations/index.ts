import type { Migration } from '../../migrations/index.ts'
import tables from './0001-tables.sql' with { type: 'text' }

/**
 * In order, without gaps; a released one does not change. Servers of two versions may run side by
 * side on the newer one's tables. So a migration only adds, and what is no longer needed is
 * dropped one version later.
 */
export const MIGRATIONS: readonly Migration[] = [
  // All tables of the first release.
  { name: '0001-tables', sql: tables },
]
