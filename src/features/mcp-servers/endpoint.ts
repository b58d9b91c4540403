import type { Seal } from '../../core/crypto.ts'
import { type McpEndpoint, McpFailure } from '../../upstream/ports/mcp.ts'
import type { StoredServer } from './store.ts'

type Owned = Pick<StoredServer, 'tenantId' | 'id'>

/** The owner of a sealed header: a value that is copied to another server does not open there. */
export const sealOwner = ({ tenantId, id }: Owned) => `${tenantId}/${id}`

/** The owner of a sealed client secret: it does not open as a header, which goes elsewhere. */
export const secretOwner = (server: Owned) => `${sealOwner(server)}/client`

/**
 * The text that is sealed of a client secret: the secret, and behind a line break the issuer that
 * it may be sent to, once that is known. Secrets have no line breaks.
 */
export function secretAndIssuer(text: string): { secret: string; issuer: string | null } {
  const [secret = '', issuer = null] = text.split('\n')
  return { secret, issuer }
}

/** The owner of sealed tokens, whose row names the server alone. */
export const grantOwner = ({ id }: Pick<Owned, 'id'>) => `${id}/grant`

/** The text that was sealed, or null for none. Throws `McpFailure` when it does not open. */
export function opened(sealed: Uint8Array | null, owner: string, seal: Seal | null): string | null {
  if (sealed === null) return null
  const text = seal?.open(sealed, owner) ?? null
  if (text === null) throw new McpFailure('undecryptable', 'a stored secret does not open')
  return text
}

/** The address and header of a server. Throws `McpFailure` when the header does not open. */
export function endpointOf(server: StoredServer, seal: Seal | null): McpEndpoint {
  const { tenantId, url, headerName, headerSealed } = server
  const value = opened(headerSealed, sealOwner(server), seal)
  const headers = headerName === null || value === null ? {} : { [headerName]: value }
  return { tenantId, url, headers }
}
