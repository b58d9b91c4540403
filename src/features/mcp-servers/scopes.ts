import { newId, type Seal } from '../../core/crypto.ts'
import { MCP_SCOPES_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Leases } from '../../storage/shared-state.ts'
import { grantOwner } from './endpoint.ts'
import { type Grant, readGrant } from './grant.ts'
import type { GrantStore } from './grant-store.ts'
import { SCOPES } from './model.ts'
import type { StoredServer } from './store.ts'
import type { ServerTelling } from './telling.ts'

const wordsOf = (scopes: string | null | undefined): string[] =>
  (scopes ?? '').split(' ').filter(Boolean)

/** All scopes of both, each once; null for none. */
export const unionOf = (one: string | null | undefined, other: string | null | undefined) =>
  [...new Set([...wordsOf(one), ...wordsOf(other)])].join(' ') || null

/** What calls were refused for and no sign-in has asked for yet; null: nothing. */
export function scopesNeeded({ asked, more }: Pick<Grant, 'asked' | 'more'>): string | null {
  const known = new Set(wordsOf(asked))
  return (
    wordsOf(more)
      .filter((one) => !known.has(one))
      .join(' ') || null
  )
}

interface StepUpParts {
  readonly store: GrantStore
  readonly seal: Seal
  readonly leases: Pick<Leases, 'hold'>
  readonly telling: Pick<ServerTelling, 'signInNeeded'>
}

/**
 * Notes scopes that a server wants beyond those of a token (`insufficient_scope`, RFC 6750), for
 * the next sign-in, and tells webhooks. `useless`: a sign-in would not help, since they were asked
 * for before or are no scopes.
 */
export async function noteScopes(
  { store, seal, leases, telling }: StepUpParts,
  server: StoredServer,
  access: string,
  scopes: string,
): Promise<'noted' | 'known' | 'useless'> {
  if (!SCOPES.test(scopes) || scopes.length > MCP_SCOPES_CHARS_MAX) return 'useless'
  let found: 'noted' | 'known' | 'useless' = 'useless'
  // Under the lease of refreshes: tokens that are being renewed are not written over.
  await leases.hold(`mcp token ${server.id}`, NEVER, async () => {
    const stored = await store.of(server.id)
    const grant = stored && readGrant(server, stored, seal)
    if (!stored || grant?.access !== access) return
    const more = unionOf(grant.more, scopes)
    const next: Grant = { ...grant, more }
    if (scopesNeeded(next) === null || (more?.length ?? 0) > MCP_SCOPES_CHARS_MAX) return
    found = more === grant.more ? 'known' : 'noted'
    if (found === 'known') return
    const sealed = seal.seal(JSON.stringify(next), grantOwner(server))
    await telling.signInNeeded(server, (told) =>
      store.refreshed(server.id, stored.version, { sealed, version: newId() }, told),
    )
  })
  return found
}

const NEVER = new AbortController().signal
