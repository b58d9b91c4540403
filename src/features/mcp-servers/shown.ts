import type { Seal } from '../../core/crypto.ts'
import { secretTail } from '../../core/secret-tail.ts'
import { callNames } from '../../tools/tool-box.ts'
import { grantOwner, sealOwner, secretAndIssuer, secretOwner } from './endpoint.ts'
import type { Grant } from './grant.ts'
import type { McpServer, McpTool } from './model.ts'
import { scopesNeeded } from './scopes.ts'
import type { StoredServer, StoredTool } from './store.ts'

/** A server as its tenant sees it: never with a secret. */
export function shownServer(
  server: StoredServer,
  tools: readonly StoredTool[],
  seal: Seal,
): McpServer {
  const { headerSealed, secretSealed } = server
  const value = headerSealed && seal.open(headerSealed, sealOwner(server))
  const secret = secretSealed && seal.open(secretSealed, secretOwner(server))
  const names = callNames(
    server.name,
    tools.map(({ name }) => name),
  )
  return {
    id: server.id,
    name: server.name,
    url: server.url,
    header_name: server.headerName,
    header_tail: value === null ? null : secretTail(value),
    auth: server.auth,
    client_id: server.clientId,
    client_secret_tail: secret === null ? null : secretTail(secretAndIssuer(secret).secret),
    scopes: server.scopes,
    signed_in: server.signedInBy !== null,
    signed_in_by: server.signedInBy,
    signed_in_at: server.signedInBy === null ? null : server.signedInAt,
    scopes_needed: neededBy(server, seal),
    enabled: server.enabled,
    state: server.state,
    error_class: server.errorClass,
    protocol: server.protocol,
    latency_ms: server.latencyMs,
    checked_at: server.checkedAt,
    tools: tools.map((tool, i) => shownTool(tool, names[i] ?? '')),
    created_at: server.createdAt,
  }
}

function neededBy(server: StoredServer, seal: Seal): string | null {
  const { grantSealed, signedInBy } = server
  const text = signedInBy !== null && grantSealed && seal.open(grantSealed, grantOwner(server))
  return text ? scopesNeeded(JSON.parse(text) as Grant) : null
}

const shownTool = (tool: StoredTool, callName: string): McpTool => ({
  ...approvedBefore(tool),
  name: tool.name,
  call_name: callName,
  title: tool.title,
  description: tool.description,
  read_only: tool.readOnly,
  destructive: tool.destructive,
  ask: tool.ask,
  schema_chars: tool.schemaChars,
  state: stateOf(tool),
  reason: tool.reason,
  hash: tool.hash,
})

/** Set also after the approval was withdrawn, so that the tool is not taken for a new one. */
function approvedBefore(tool: StoredTool): Pick<McpTool, 'approved_description'> {
  const { approvedDescription } = tool
  const isOpen = stateOf(tool) === 'changed' || stateOf(tool) === 'new'
  return isOpen && approvedDescription !== null ? { approved_description: approvedDescription } : {}
}

export function stateOf({
  reason,
  hash,
  approvedHash,
}: Pick<StoredTool, 'reason' | 'hash' | 'approvedHash'>): McpTool['state'] {
  if (reason !== null) return 'unusable'
  if (approvedHash === null) return 'new'
  return approvedHash === hash ? 'approved' : 'changed'
}
