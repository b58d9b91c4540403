import { orAborted } from '../core/abort.ts'
import type { Guard, Target } from './url-guard.ts'

/** The platform's `fetch`, as main.ts passes it in. */
export type PlatformFetch = (url: string, init?: BunFetchRequestInit) => Promise<Response>
export type GuardedFetch = (url: string | URL, init?: GuardedInit) => Promise<Response>

export interface GuardedInit extends RequestInit {
  /** False leaves a compressed body as it came, for callers that bound what it unpacks to. */
  readonly decompress?: boolean
}

export interface GuardedFetchOptions {
  readonly guard: Pick<Guard, 'connectable'>
  readonly fetch: PlatformFetch
  /** Certificate authorities (PEM) to trust in place of the system's. */
  readonly ca?: string
}

/**
 * A `fetch` for addresses that tenants supply. It connects to the very address the guard has
 * checked, while the Host header, the TLS server name and the verified certificate are those of
 * the URL, so a name that changes its answer cannot lead elsewhere. Redirects are returned, never
 * followed, and proxies of the environment are not used, since they would resolve for themselves.
 *
 * `Response.url` names the address, not the host. Rejects as the guard and `fetch` do.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { guard, fetch, ca } = options
  return async (url, init = {}) => {
    const looking = guard.connectable(url)
    const target = await (init.signal ? orAborted(looking, init.signal) : looking)
    const headers = new Headers(init.headers)
    headers.set('host', target.url.host)
    return fetch(pinnedUrl(target), {
      ...init,
      headers,
      redirect: 'manual',
      proxy: false,
      tls: { ...serverName(target), ...(ca === undefined ? {} : { ca }) },
    })
  }
}

/** Built as text: a URL object would keep its host when given an address that it cannot parse. */
function pinnedUrl({ url, address, family }: Target): string {
  const host = family === 6 ? `[${address}]` : address
  const port = url.port === '' ? '' : `:${url.port}`
  return `${url.protocol}//${host}${port}${url.pathname}${url.search}`
}

/** A literal address is verified as such; RFC 6066 allows no address in the server name. */
function serverName({ url, address }: Target): { serverName?: string } {
  const name = url.hostname.replace(/\.$/, '')
  return name === address || name.startsWith('[') ? {} : { serverName: name }
}
