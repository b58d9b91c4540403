import { type Statement, sql } from '../../storage/db.ts'
import type { Outbox } from '../webhooks/outbox.ts'
import type { KeptTool } from './listing.ts'
import { isNotFailed, isOther } from './listing-store.ts'
import type { StoredServer, StoredTool } from './store.ts'

/** Stores a change after the statements that it is given, in one batch; false: nothing changed. */
type Storing = (told: readonly Statement[]) => Promise<boolean>

type McpEvent = 'mcp.failed' | 'mcp.sign_in_needed' | 'mcp.tools_changed'

const ALWAYS = sql`1 = 1`

/**
 * Queues what webhooks are told of servers. The statements stand before the one that changes the
 * server, in one batch: their conditions are about what it was.
 */
export function createServerTelling(outbox: Pick<Outbox, 'telling' | 'sent'>) {
  async function telling(
    event: McpEvent,
    { tenantId, id, name }: StoredServer,
    count: number | null,
    was: Statement,
    storing: Storing,
  ): Promise<boolean> {
    const data = { server_id: id, name, count }
    const told = await outbox.telling(tenantId, event, data, was)
    const isStored = await storing(told)
    if (isStored && told.length > 0) outbox.sent(tenantId)
    return isStored
  }

  return {
    /** A listing has failed. */
    failed: (server: StoredServer, storing: Storing): Promise<boolean> =>
      telling('mcp.failed', server, null, isNotFailed(server), storing),

    /** The tokens are refused, or good for too little. */
    signInNeeded: (server: StoredServer, storing: Storing): Promise<boolean> =>
      telling('mcp.sign_in_needed', server, null, ALWAYS, storing),

    /** A listing differs from `before`. The first listing changes nothing. */
    listed(
      server: StoredServer,
      before: readonly StoredTool[],
      tools: readonly KeptTool[],
      storing: Storing,
    ): Promise<boolean> {
      if (server.protocol === null || hashesOf(before) === hashesOf(tools)) return storing([])
      const approved = new Map(before.map((tool) => [tool.name, tool.approvedHash]))
      const count = tools.filter(
        (tool) => tool.reason === null && approved.get(tool.name) !== tool.hash,
      ).length
      return telling('mcp.tools_changed', server, count, isOther(server, tools), storing)
    },
  }
}

export type ServerTelling = ReturnType<typeof createServerTelling>

const hashesOf = (tools: readonly { readonly hash: string }[]): string =>
  tools
    .map(({ hash }) => hash)
    .sort()
    .join()
