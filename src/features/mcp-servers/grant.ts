import type { Seal } from '../../core/crypto.ts'
import type { McpIssuer, McpOAuthClient } from '../../upstream/ports/mcp-oauth.ts'
import { grantOwner, opened } from './endpoint.ts'
import type { StoredGrant } from './grant-store.ts'
import type { StoredServer } from './store.ts'

/** What is sealed of a grant. */
export interface Grant {
  /** The address that the tokens are for: they are sent to no other. */
  readonly url: string
  readonly issuer: McpIssuer
  readonly client: McpOAuthClient
  readonly access: string
  readonly refresh: string | null
  /** Epoch milliseconds; null when the issuer does not say. */
  readonly expiresAt: number | null
  /** The redirect URI that the client was registered for; null for a client that was given. */
  readonly registeredFor: string | null
  /** Names the sign-in: a refresh keeps it. Absent: one of before it was noted. */
  readonly signIn?: string
  /** The scopes that were asked for; null: none, absent: nobody noted them. */
  readonly asked?: string | null
  /** Scopes that calls were refused for, which the next sign-in asks for, too. */
  readonly more?: string | null
}

/** Opens what is stored. Throws `McpFailure` when it does not open. */
export function readGrant(server: StoredServer, stored: StoredGrant, seal: Seal | null): Grant {
  return JSON.parse(opened(stored.sealed, grantOwner(server), seal) ?? '') as Grant
}

/**
 * What is left of a grant that the issuer refuses: the scopes that calls were refused for, which
 * the next sign-in asks for. The issuer may have forgotten the client, so another is registered.
 */
export const spent = (grant: Grant): Grant => ({
  ...grant,
  client: { id: '', secret: null },
  access: '',
  refresh: null,
  expiresAt: 0,
  registeredFor: null,
})

export const isSpent = ({ access }: Pick<Grant, 'access'>): boolean => access === ''
