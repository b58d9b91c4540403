import { randomToken, type Seal, sha256Hex } from '../../core/crypto.ts'
import type { Principal } from '../../core/principal.ts'
import type { KeyLimits } from '../keys/store.ts'
import { type Share, ShareLook } from './model.ts'
import type { ShareRow } from './store.ts'

interface Place {
  readonly tenantId: string
  readonly id: string
}

/** With what the token of a share is authenticated. */
export const tokenOwner = ({ tenantId, id }: Place): string => `${tenantId} share ${id}`

/** The address that a token opens; `site` is that of this server. */
export const addressOf = (site: string, token: string): string => `${site}/s/${token}`

/** Tokens of shares: stored as a hash, and sealed for those who may see them. */
/** Whether a link gives a key with these limits no more tokens a day than it has itself. */
export const isWithin = ({ dailyTokens: own }: KeyLimits, share: ShareRow): boolean =>
  own === 0 || (share.daily_tokens > 0 && share.daily_tokens <= own)

export const createTokens = (seal: Seal | null) => ({
  /** A new token of a share, and what is stored of it. */
  newToken(share: Place) {
    const token = randomToken(32)
    const sealed = seal?.seal(token, tokenOwner(share)) ?? null
    return { token, hash: sha256Hex(token), sealed }
  },

  /** A share as the caller sees it: without its token for viewers, and for keys of less budget. */
  shown({ tenantId, role }: Principal, own: KeyLimits, site: string, row: ShareRow): Share {
    const { sealed, origins, look, daily_tokens: _, ...share } = row
    const isOpen = role !== 'viewer' && isWithin(own, row) && sealed !== null
    const token = isOpen ? (seal?.open(sealed, tokenOwner({ tenantId, id: row.id })) ?? null) : null
    return {
      ...share,
      origins: [...origins],
      look: ShareLook.parse(look),
      ...(token === null ? {} : { token, url: addressOf(site, token) }),
    }
  },
})
