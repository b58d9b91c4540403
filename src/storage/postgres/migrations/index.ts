import type { Migration } from '../../migrations/index.ts'
import init from './0001-init.sql' with { type: 'text' }
import search from './0002-search.sql' with { type: 'text' }
import sharedState from './0003-shared-state.sql' with { type: 'text' }
import docNumber from './0004-doc-number.sql' with { type: 'text' }
import responseItem from './0005-response-item.sql' with { type: 'text' }
import accounting from './0006-accounting.sql' with { type: 'text' }
import turnWord from './0007-turn-word.sql' with { type: 'text' }
import logCount from './0008-log-count.sql' with { type: 'text' }
import people from './0009-people.sql' with { type: 'text' }
import files from './0010-files.sql' with { type: 'text' }

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
  { name: '0005-response-item', sql: responseItem },
  { name: '0006-accounting', sql: accounting },
  { name: '0007-turn-word', sql: turnWord },
  { name: '0008-log-count', sql: logCount },
  { name: '0009-people', sql: people },
  { name: '0010-files', sql: files },
]
