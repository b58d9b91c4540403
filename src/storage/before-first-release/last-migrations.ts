import serverResponseItem from './0005-response-item.sql' with { type: 'text' }
import serverAccounting from './0006-accounting.sql' with { type: 'text' }
import serverTurnWord from './0007-turn-word.sql' with { type: 'text' }
import serverLogCount from './0008-log-count.sql' with { type: 'text' }
import serverPeople from './0009-people.sql' with { type: 'text' }
import responseItem from './0020-response-item.sql' with { type: 'text' }
import accounting from './0021-accounting.sql' with { type: 'text' }
import turnWord from './0022-turn-word.sql' with { type: 'text' }
import logCount from './0023-log-count.sql' with { type: 'text' }
import people from './0024-people.sql' with { type: 'text' }

// The last migrations of the builds before 0.1.0, in order.
export const LAST_OF_SQLITE = [
  { name: '0020-response-item', sql: responseItem },
  { name: '0021-accounting', sql: accounting },
  { name: '0022-turn-word', sql: turnWord },
  { name: '0023-log-count', sql: logCount },
  { name: '0024-people', sql: people },
]
export const LAST_OF_POSTGRES = [
  { name: '0005-response-item', sql: serverResponseItem },
  { name: '0006-accounting', sql: serverAccounting },
  { name: '0007-turn-word', sql: serverTurnWord },
  { name: '0008-log-count', sql: serverLogCount },
  { name: '0009-people', sql: serverPeople },
]
