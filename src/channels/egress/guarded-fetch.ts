import { orAborted } from '../../core/abort.ts'
import { leastRecentlyUsed } from '../../core/lru.ts'
import type { Reach } from './happy-eyeballs.ts'
import type { Guard, ResolvedAddress, Target } from './url-guard.ts'

/** Hosts of several addresses of which it is known which one answers. */
const HOSTS_MAX = 1_000

/** The platform's `fetch`, as main.ts passes it in. */
export type PlatformFetch = (url: string, init?: BunFetchRequestInit) => Promise<Response>
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface GuardedFetchOptions {
  readonly guard: Pick<Guard, 'connectable'>
  readonly fetch: PlatformFetch
  /** Asked for hosts with several addresses. */
  readonly reach: Reach
  /** Certificate authorities (PEM) to trust in place of the system's. */
  readonly ca?: string
}

/**
 * A `fetch` for addresses that tenants supply. It connects to the very address the guard has
 * checked, while the Host header, the TLS server name and the verified certificate are those of
 * the URL, so a name that changes its answer cannot lead elsewhere. Redirects are returned, never
 * followed, and proxies of the environment are not used, since they would resolve for themselves.
 * Of several addresses it takes one that answers, and stays with it until a request fails. A
 * compressed body is left packed, because what it unpacks to has no bound.
 *
 * `Response.url` names the address, not the host. Rejects as the guard and `fetch` do.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { guard, fetch, reach, ca } = options
  const answering = leastRecentlyUsed<string>(HOSTS_MAX, () => 1)

  async function choose({ url, addresses }: Target, signal: RequestInit['signal']) {
    const [first] = addresses
    if (first && addresses.length === 1) return first
    const known = answering.get(url.origin)
    const still = addresses.find(({ address }) => address === known)
    if (still) return still
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const reached = await reach(addresses, port, signal)
    answering.put(url.origin, reached.address)
    return reached
  }

  return async (url, init = {}) => {
    const looking = guard.connectable(url)
    const target = await (init.signal ? orAborted(looking, init.signal) : looking)
    const address = await choose(target, init.signal)
    const headers = new Headers(init.headers)
    headers.set('host', target.url.host)
    try {
      return await fetch(pinnedUrl(target.url, address), {
        ...init,
        headers,
        redirect: 'manual',
        proxy: false,
        decompress: false,
        tls: { ...serverName(target.url, address), ...(ca === undefined ? {} : { ca }) },
      })
    } catch (error) {
      answering.drop(target.url.origin)
      throw error
    }
  }
}

/** Built as text: a URL object would keep its host when given an address that it cannot parse. */
function pinnedUrl(url: URL, { address, family }: ResolvedAddress): string {
  const host = family === 6 ? `[${address}]` : address
  const port = url.port === '' ? '' : `:${url.port}`
  return `${url.protocol}//${host}${port}${url.pathname}${url.search}`
}

/** A literal address is verified as such; RFC 6066 allows no address in the server name. */
function serverName(url: URL, { address }: ResolvedAddress): { serverName?: string } {
  const name = url.hostname.replace(/\.$/, '')
  return name === address || name.startsWith('[') ? {} : { serverName: name }
}
