import talk from './0002-talk.sql' with { type: 'text' }
import files from './0003-files.sql' with { type: 'text' }
import index from './0004-index.sql' with { type: 'text' }
import pictures from './0005-pictures.sql' with { type: 'text' }
import responseItem from './0005-response-item.sql' with { type: 'text' }
import accounting from './0006-accounting.sql' with { type: 'text' }
import signin from './0006-signin.sql' with { type: 'text' }
import faces from './0007-faces.sql' with { type: 'text' }
import turnWord from './0007-turn-word.sql' with { type: 'text' }
import collections from './0008-collections.sql' with { type: 'text' }
import logCount from './0008-log-count.sql' with { type: 'text' }
import people from './0009-people.sql' with { type: 'text' }
import versions from './0009-versions.sql' with { type: 'text' }
import webhooks from './0010-webhooks.sql' with { type: 'text' }
import memory from './0011-memory.sql' with { type: 'text' }
import mcpSignIn from './0012-mcp-sign-in.sql' with { type: 'text' }
import asks from './0013-asks.sql' with { type: 'text' }
import runs from './0014-runs.sql' with { type: 'text' }
import runAsk from './0015-run-ask.sql' with { type: 'text' }

/** Of the builds with many migrations, the last ones, in order. */
export const LAST = [
  { name: '0005-response-item', sql: responseItem },
  { name: '0006-accounting', sql: accounting },
  { name: '0007-turn-word', sql: turnWord },
  { name: '0008-log-count', sql: logCount },
  { name: '0009-people', sql: people },
]

/** Of the builds after them, whose first migration had all tables of then: the others, in order. */
export const LATER = [
  { name: '0002-talk', sql: talk },
  { name: '0003-files', sql: files },
  { name: '0004-index', sql: index },
  { name: '0005-pictures', sql: pictures },
  { name: '0006-signin', sql: signin },
  { name: '0007-faces', sql: faces },
  { name: '0008-collections', sql: collections },
  { name: '0009-versions', sql: versions },
  { name: '0010-webhooks', sql: webhooks },
  { name: '0011-memory', sql: memory },
  { name: '0012-mcp-sign-in', sql: mcpSignIn },
  { name: '0013-asks', sql: asks },
  { name: '0014-runs', sql: runs },
  { name: '0015-run-ask', sql: runAsk },
]
