import type { Migration } from '../../migrations/index.ts'
import init from './0001-init.sql' with { type: 'text' }
import search from './0002-search.sql' with { type: 'text' }
import sharedState from './0003-shared-state.sql' with { type: 'text' }
import docNumber from './0004-doc-number.sql' with { type: 'text' }

/**
 * In order, without gaps. One that was released never changes. While servers of two versions run
 * side by side the older one meets the newer one's tables: a migration adds, and what is no longer
 * needed goes one version later.
 */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-init', sql: init },
  { name: '0002-search', sql: search },
  { name: '0003-shared-state', sql: sharedState },
  { name: '0004-doc-number', sql: docNumber },
]
