import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { sha256Hex } from '../../core/crypto.ts'
import { MCP_SESSIONS_MAX } from '../../core/limits/machine.ts'
import { type McpEndpoint, McpFailure } from '../../upstream/ports/mcp.ts'
import {
  type ExchangeOptions,
  exchange,
  type RpcAnswer,
  resultOf,
  speaksOldForm,
} from './exchange.ts'
import type { About, Request } from './modern.ts'

/** The revisions with a handshake, newest first. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** Longer session ids are refused, because sessions of many servers are remembered. */
const SESSION_ID_CHARS_MAX = 1_000

/** The result of `initialize` at a server. */
export interface Session {
  readonly protocol: string
  /** Null when the server has no sessions. */
  readonly id: string | null
}

/** Whose sessions those at an endpoint are. */
export const ownerOf = ({ tenantId, url, headers, signedIn }: McpEndpoint) => [
  tenantId,
  url,
  signedIn ?? headers,
]

/** Begins a session. */
export async function openSession(
  work: ExchangeOptions,
  about: About,
  capabilities: object,
): Promise<Session> {
  const params = { protocolVersion: REVISIONS[0], capabilities, clientInfo: about }
  const answer = await exchange(work, { id: work.nextId(), method: 'initialize', params }, {})
  if (answer.status >= 400 && (await speaksOldForm(work))) {
    throw new McpFailure('outdated', 'HTTP+SSE only')
  }
  const { protocolVersion } = resultOf(answer)
  const protocol = REVISIONS.find((one) => one === protocolVersion)
  if (!protocol) throw new McpFailure('malformed', 'no common revision')
  const session = { protocol, id: answer.sessionId }
  if ((session.id?.length ?? 0) > SESSION_ID_CHARS_MAX) {
    throw new McpFailure('malformed', 'session id too long')
  }
  await exchange(work, { method: 'notifications/initialized' }, headersOf(session))
  return session
}

/** Requests of the revisions before 2026-07-28. Sessions are remembered from call to call. */
export function createLegacy(about: About) {
  const sessions = leastRecentlyUsed<Session>(MCP_SESSIONS_MAX, () => 1)
  const nameOf = (endpoint: McpEndpoint) => sha256Hex(JSON.stringify(ownerOf(endpoint)))

  async function initialize(work: ExchangeOptions): Promise<Session> {
    const session = await openSession(work, about, {})
    sessions.put(nameOf(work.endpoint), session)
    return session
  }

  return {
    initialize,

    /** Sends a request; when the server has forgotten the session, begins a new one, once. */
    async ask(work: ExchangeOptions, { method, params, headers }: Request): Promise<RpcAnswer> {
      const ask = (session: Session) =>
        exchange(work, { id: work.nextId(), method, params }, { ...headers, ...headersOf(session) })
      const known = sessions.get(nameOf(work.endpoint))
      const answer = await ask(known ?? (await initialize(work)))
      if (!known) return answer
      return isLost(answer, known) ? ask(await initialize(work)) : answer
    },
  }
}

/** Whether the server has forgotten the session. */
export const isLost = ({ status }: RpcAnswer, { id }: Session): boolean =>
  status === 404 || (status === 400 && id !== null)

export const headersOf = ({ protocol, id }: Session): Record<string, string> => ({
  'mcp-protocol-version': protocol,
  ...(id === null ? {} : { 'mcp-session-id': id }),
})
