import ipaddr from 'ipaddr.js'

/** Whom a passkey is for (WebAuthn): a domain, and the origin whose pages may use it. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/**
 * The host of MB_PUBLIC_URL, else `localhost` where the request came there; null for all others,
 * since whoever sends a request chooses its Host, and an address cannot be one.
 */
export function relyingParty(
  origins: {
    readonly published: () => string | null
    readonly asked: (of: Request) => string | null
  },
  request: Request,
): RelyingParty | null {
  const published = origins.published()
  const origin = published ?? origins.asked(request)
  if (origin === null) return null
  const { hostname } = new URL(origin)
  if (ipaddr.isValid(hostname.replace(/^\[|\]$/g, ''))) return null
  return published !== null || hostname === 'localhost' ? { id: hostname, origin } : null
}
