import { orAborted } from '../../core/abort.ts'
import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import type { HappyEyeballs } from './happy-eyeballs.ts'
import type { Guard, ResolvedAddress, Target } from './url-guard.ts'

/** Hosts with several addresses for which the answering one is remembered. */
const HOSTS_MAX = 1_000

/** Bun's `fetch`. */
export type PlatformFetch = (url: string, init?: BunFetchRequestInit) => Promise<Response>
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>
/** The guarded `fetch` of one tenant; its name lookups count against that tenant. */
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

export type RedirectProblem = 'nowhere' | 'too_long' | 'too_often'

/** The redirects lead nowhere or are too many. */
export class RedirectFailure extends Error {
  override readonly name = 'RedirectFailure'

  constructor(readonly problem: RedirectProblem) {
    super(`the address redirects ${problem}`)
  }
}

export interface RedirectOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly redirectsMax: number
  readonly urlCharsMax: number
  /** Awaited before each request. */
  readonly before?: (url: URL) => Promise<void>
}

/**
 * Follows redirects from `start`; the guard of `fetch` checks each address before a connection is
 * made. Resolves with the first answer that is not a redirect, whatever its status. Throws
 * `RedirectFailure`, or as `fetch` does.
 */
export async function follow(fetch: GuardedFetch, start: URL, options: RedirectOptions) {
  const { headers, signal, redirectsMax, urlCharsMax, before } = options
  let url = start
  for (let hop = 0; hop <= redirectsMax; hop++) {
    await before?.(url)
    const response = await fetch(url, { signal, headers })
    if (![301, 302, 303, 307, 308].includes(response.status)) return { response, url }
    await response.body?.cancel()
    const location = response.headers.get('location')
    const next = location === null ? null : URL.parse(location, url)
    if (next === null) throw new RedirectFailure('nowhere')
    if (next.href.length > urlCharsMax) throw new RedirectFailure('too_long')
    url = next
  }
  throw new RedirectFailure('too_often')
}

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

const SLICE_BYTES = 512

/**
 * The body of an answer without its `Content-Encoding`; null for one that is unknown. Some servers
 * compress although the request declines it. It is unpacked in small slices, because a large piece
 * could expand a thousandfold before its reader checks a limit.
 */
export function unpackedBody({ body, headers }: Response): Bytes | null {
  const name = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  const bytes: Bytes = body ?? new Blob().stream()
  if (name === '' || name === 'identity') return bytes
  const format = name === 'x-gzip' ? 'gzip' : name
  if (format !== 'gzip' && format !== 'deflate') return null
  return bytes.pipeThrough(sliced()).pipeThrough(new DecompressionStream(format))
}

function sliced() {
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        controller.enqueue(chunk.subarray(at, at + SLICE_BYTES))
      }
    },
  })
}
