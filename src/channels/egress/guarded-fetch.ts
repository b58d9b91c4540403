import { orAborted } from '../../core/abort.ts'
import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import type { HappyEyeballs } from './happy-eyeballs.ts'
import type { Guard, ResolvedAddress, Target } from './url-guard.ts'

/** Hosts with several addresses for which the answering one is remembered. */
const HOSTS_MAX = 1_000

/** Bun's `fetch`. */
export type PlatformFetch = (url: string, init?: BunFetchRequestInit) => Promise<Response>
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>
/** The guarded `fetch` of one tenant; names are resolved in that tenant's share. */
export type FetchFor = (tenantId: string) => GuardedFetch

export interface GuardedFetchOptions {
  readonly guard: Pick<Guard, 'connectable'>
  readonly fetch: PlatformFetch
  /** Chooses among several addresses of a host. */
  readonly chooseAddress: HappyEyeballs
  /** Certificate authorities (PEM) to trust in place of the system's. */
  readonly ca?: string
}

/**
 * A `fetch` for addresses that a tenant supplies. It connects to the very address that the guard
 * has checked, while the Host header, the TLS server name and the verified certificate are those of
 * the URL, so a name that changes its answer cannot lead elsewhere. Redirects are returned, never
 * followed. Proxies of the environment are not used, because they resolve names themselves. Of
 * several addresses it takes one that answers, and stays with it until a request fails. A
 * compressed body is left packed, because what it unpacks to has no bound.
 *
 * `Response.url` names the address, not the host. Rejects as the guard and `fetch` do.
 */
export function createGuardedFetch(options: GuardedFetchOptions): FetchFor {
  const { guard, fetch, chooseAddress, ca } = options
  const answering = leastRecentlyUsed<string>(HOSTS_MAX, () => 1)

  async function choose({ url, addresses }: Target, signal: RequestInit['signal']) {
    const [first] = addresses
    if (first && addresses.length === 1) return first
    const remembered = answering.get(url.origin)
    const still = addresses.find(({ address }) => address === remembered)
    if (still) return still
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
    const chosen = await chooseAddress(addresses, port, signal)
    answering.put(url.origin, chosen.address)
    return chosen
  }

  async function request(tenantId: string, url: string | URL, init: RequestInit) {
    const { signal } = init
    const checking = guard.connectable(url, { tenantId, ...(signal ? { signal } : {}) })
    const target = await (signal ? orAborted(checking, signal) : checking)
    const address = await choose(target, signal)
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

  return (tenantId) =>
    (url, init = {}) =>
      request(tenantId, url, init)
}

/** Built as text: a URL object keeps its host when it is given an address it cannot parse. */
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
