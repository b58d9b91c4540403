import init from './0001-init.sql' with { type: 'text' }
import kb from './0002-kb.sql' with { type: 'text' }
import device from './0003-device.sql' with { type: 'text' }
import provider from './0004-provider.sql' with { type: 'text' }
import kbSource from './0005-kb-source.sql' with { type: 'text' }
import usage from './0006-usage.sql' with { type: 'text' }
import prices from './0007-prices.sql' with { type: 'text' }
import mcpServer from './0008-mcp-server.sql' with { type: 'text' }
import mcpApproved from './0009-mcp-approved.sql' with { type: 'text' }
import kbCitation from './0010-kb-citation.sql' with { type: 'text' }
import operator from './0011-operator.sql' with { type: 'text' }
import mcpApprovedSchema from './0012-mcp-approved-schema.sql' with { type: 'text' }
import transcript from './0013-transcript.sql' with { type: 'text' }
import deviceBoard from './0014-device-board.sql' with { type: 'text' }
import member from './0015-member.sql' with { type: 'text' }
import audit from './0016-audit.sql' with { type: 'text' }
import kbVector from './0017-kb-vector.sql' with { type: 'text' }
import logTimes from './0018-log-times.sql' with { type: 'text' }
import share from './0019-share.sql' with { type: 'text' }
import responseItem from './0020-response-item.sql' with { type: 'text' }
import accounting from './0021-accounting.sql' with { type: 'text' }
import turnWord from './0022-turn-word.sql' with { type: 'text' }
import logCount from './0023-log-count.sql' with { type: 'text' }
import people from './0024-people.sql' with { type: 'text' }
import files from './0025-files.sql' with { type: 'text' }

export interface Migration {
  readonly name: string
  readonly sql: string
}

/** In order, without gaps. Imported as text, so the executable carries them. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-init', sql: init },
  { name: '0002-kb', sql: kb },
  { name: '0003-device', sql: device },
  { name: '0004-provider', sql: provider },
  { name: '0005-kb-source', sql: kbSource },
  { name: '0006-usage', sql: usage },
  { name: '0007-prices', sql: prices },
  { name: '0008-mcp-server', sql: mcpServer },
  { name: '0009-mcp-approved', sql: mcpApproved },
  { name: '0010-kb-citation', sql: kbCitation },
  { name: '0011-operator', sql: operator },
  { name: '0012-mcp-approved-schema', sql: mcpApprovedSchema },
  { name: '0013-transcript', sql: transcript },
  { name: '0014-device-board', sql: deviceBoard },
  { name: '0015-member', sql: member },
  { name: '0016-audit', sql: audit },
  { name: '0017-kb-vector', sql: kbVector },
  { name: '0018-log-times', sql: logTimes },
  { name: '0019-share', sql: share },
  { name: '0020-response-item', sql: responseItem },
  { name: '0021-accounting', sql: accounting },
  { name: '0022-turn-word', sql: turnWord },
  { name: '0023-log-count', sql: logCount },
  { name: '0024-people', sql: people },
  { name: '0025-files', sql: files },
]
