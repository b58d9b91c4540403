import type { Seal } from '../../core/crypto.ts'
import { type McpIssuer, McpOAuthFailure } from '../../upstream/ports/mcp-oauth.ts'
import { opened, secretAndIssuer, secretOwner } from './endpoint.ts'
import type { GrantStore } from './grant-store.ts'
import type { StoredServer } from './store.ts'

export interface ClientSecretOptions {
  readonly store: Pick<GrantStore, 'bindSecret'>
  readonly seal: Seal | null
}

/**
 * The client secret that was given for a server, to be sent to this issuer; null for none. The
 * first issuer is stored with it, since the server alone says who its issuer is, and could name one
 * of its own later. Throws `McpOAuthFailure` for any other until the secret is given again.
 */
export async function secretFor(
  { store, seal }: ClientSecretOptions,
  server: StoredServer,
  { issuer }: Pick<McpIssuer, 'issuer'>,
): Promise<string | null> {
  const read = (sealed: Uint8Array | null) => opened(sealed, secretOwner(server), seal)
  const text = read(server.secretSealed)
  if (text === null || !seal) return null
  const address = URL.parse(issuer)?.href ?? issuer
  let given = secretAndIssuer(text)
  if (given.issuer === null) {
    const sealed = seal.seal(`${given.secret}\n${address}`, secretOwner(server))
    // Another sign-in may have stored its issuer meanwhile, or an editor another secret.
    given = secretAndIssuer(read(await store.bindSecret(server, sealed)) ?? '')
  }
  if (given.issuer !== address) throw new McpOAuthFailure('refused', 'other_issuer')
  return given.secret
}
