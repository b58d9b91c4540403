import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { sha256Hex } from '../../core/crypto.ts'
import { MCP_SESSIONS_MAX } from '../../core/limits/machine.ts'
import { type McpEndpoint, McpFailure } from '../ports/mcp.ts'
import { type ExchangeOptions, exchange, type RpcAnswer, resultOf } from './exchange.ts'
import type { About, Request } from './modern.ts'

/** The revisions with a handshake, newest first. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** Sessions of many servers are remembered. */
const SESSION_ID_CHARS_MAX = 1_000

/** What was agreed with a server by `initialize`. */
interface Session {
  readonly protocol: string
  /** Null: the server keeps none. */
  readonly id: string | null
}

/** Requests of the revisions before 2026-07-28. Sessions are remembered from call to call. */
export function createLegacy(about: About) {
  const sessions = leastRecentlyUsed<Session>(MCP_SESSIONS_MAX, () => 1)
  const nameOf = (endpoint: McpEndpoint) => sha256Hex(JSON.stringify(endpoint))

  async function initialize(work: ExchangeOptions): Promise<Session> {
    const params = { protocolVersion: REVISIONS[0], capabilities: {}, clientInfo: about }
    const answer = await exchange(work, { id: 1, method: 'initialize', params }, {})
    const { protocolVersion } = resultOf(answer)
    const protocol = REVISIONS.find((one) => one === protocolVersion)
    if (!protocol) throw new McpFailure('malformed', 'no common revision')
    const session = { protocol, id: answer.sessionId }
    if ((session.id?.length ?? 0) > SESSION_ID_CHARS_MAX) {
      throw new McpFailure('malformed', 'session id too long')
    }
    await exchange(work, { method: 'notifications/initialized' }, headersOf(session))
    sessions.put(nameOf(work.endpoint), session)
    return session
  }

  return {
    initialize,

    /** A session that the server has forgotten is begun anew, once. */
    async ask(work: ExchangeOptions, { method, params, headers }: Request): Promise<RpcAnswer> {
      const ask = (session: Session) =>
        exchange(work, { id: 2, method, params }, { ...headers, ...headersOf(session) })
      const known = sessions.get(nameOf(work.endpoint))
      const answer = await ask(known ?? (await initialize(work)))
      if (!known) return answer
      const isLost = answer.status === 404 || (answer.status === 400 && known.id !== null)
      return isLost ? ask(await initialize(work)) : answer
    },
  }
}

const headersOf = ({ protocol, id }: Session): Record<string, string> => ({
  'mcp-protocol-version': protocol,
  ...(id === null ? {} : { 'mcp-session-id': id }),
})
