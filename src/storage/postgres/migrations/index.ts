import type { Migration } from '../../migrations/index.ts'
import init from './0001-init.sql' with { type: 'text' }
import search from './0002-search.sql' with { type: 'text' }
import sharedState from './0003-shared-state.sql' with { type: 'text' }
import docNumber from './0004-doc-number.sql' with { type: 'text' }
import people from './0005-people.sql' with { type: 'text' }

/**
 * In order, without gaps. A released migration never changes. Servers of two versions may run side
 * by side on the newer one's tables. So a migration only adds, and what is no longer needed is
 * dropped one version later.
 */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-init', sql: init },
  { name: '0002-search', sql: search },
  { name: '0003-shared-state', sql: sharedState },
  { name: '0004-doc-number', sql: docNumber },
  { name: '0005-people', sql: people },
]
