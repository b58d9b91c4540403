import ipaddr from 'ipaddr.js'
import { appError, type ErrorCode } from '../../core/errors.ts'
import { ChannelFailure } from '../ports/failure.ts'

/**
 * The guard for addresses that tenants supply: `base_url`, `fetch_url` and image URLs. The literal
 * is checked when it is saved, and every resolved address again for each connection. The caller
 * must connect to an address that this module returned and to no other, else a name that changes
 * its answer between check and connection (DNS rebinding) gets through.
 */

/** Entries `host` or `host:port` of `MB_ALLOW_PRIVATE_HOSTS`; IPv6 with a port in brackets. */
export type AllowList = readonly string[]

export type LiteralRefusal = 'malformed' | 'scheme' | 'credentials' | 'internal'
export type LiteralCheck = { readonly url: URL } | { readonly refused: LiteralRefusal }

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** The tenant that a name is resolved for, and the signal that ends the query. */
export interface Requester {
  readonly tenantId: string
  readonly signal?: AbortSignal
}

/** Every address of a host name. Rejects when the name is unknown or no name server answers. */
export type Resolve = (
  hostname: string,
  requester: Requester,
) => Promise<readonly ResolvedAddress[]>

/** The URL to ask for and the addresses, at least one, that may be connected to. */
export interface Target {
  readonly url: URL
  readonly addresses: readonly ResolvedAddress[]
}

export interface GuardOptions {
  readonly resolve: Resolve
  /** The private hosts that are allowed now. */
  readonly allow: () => AllowList
}

export type Guard = ReturnType<typeof createGuard>

/** The guard of this server. */
export function createGuard({ resolve, allow }: GuardOptions) {
  return {
    /**
     * The addresses to connect to. Throws `ChannelFailure('channel_unavailable')` when the guard
     * refuses. Rejects as `resolve` does when the name does not resolve, which may be temporary.
     */
    async connectable(url: string | URL, requester: Requester): Promise<Target> {
      const allowed = allow()
      const checked = checkLiteral(url, allowed)
      if ('refused' in checked) throw refusal()
      const host = bareHost(checked.url)
      const family = familyOf(host)
      if (family !== 0) return { url: checked.url, addresses: [{ address: host, family }] }
      const addresses = await resolve(host, requester)
      if (addresses.length === 0) throw new Error('the host name has no address')
      const lifted = isAllowed(checked.url, allowed)
      if (!lifted && !addresses.every(({ address }) => isPublicAddress(address))) throw refusal()
      return { url: checked.url, addresses }
    },
  }
}

/**
 * Checks a URL without resolving it: http or https, no user name or password, no internal host.
 * Spellings such as `127.1`, `0x7f000001` or full-width digits are checked in the canonical form
 * of the URL standard, which is also what is connected to.
 */
export function checkLiteral(input: string | URL, allow: AllowList): LiteralCheck {
  if (typeof input === 'string' && !isUnambiguous(input)) return { refused: 'malformed' }
  const url = URL.parse(input)
  if (url === null) return { refused: 'malformed' }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { refused: 'scheme' }
  if (url.username !== '' || url.password !== '') return { refused: 'credentials' }
  if (isInternal(bareHost(url)) && !isAllowed(url, allow)) return { refused: 'internal' }
  return { url }
}

const URL_ERRORS = {
  malformed: 'url_malformed',
  scheme: 'url_scheme',
  credentials: 'url_credentials',
  internal: 'url_internal',
} as const satisfies Record<LiteralRefusal, ErrorCode>

/** The address in the field `url` of a body; throws `url_…` for a refused one. */
export function checkedUrl(given: string, allow: AllowList): URL {
  const literal = checkLiteral(given, allow)
  if ('refused' in literal) throw appError(URL_ERRORS[literal.refused], { field: 'url' })
  return literal.url
}

/**
 * Whether `entry` is a `host` or `host:port` that an allow-list may hold; it knows no wildcards.
 */
export function isAllowEntry(entry: string): boolean {
  return parseEntry(entry) !== null
}

const NAME = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/
/**
 * Endings of names that only local networks resolve: special-use names (RFC 6761, 6762, 7686 and
 * 8375), those that ICANN keeps out of the public DNS, Kubernetes, Consul and the FRITZ!Box.
 */
const INTERNAL_SUFFIXES = [
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home'],
  ...['mail', 'lan', 'home.arpa', 'test', 'onion', 'svc', 'consul', 'fritz.box'],
].map((name) => `.${name}`)

/** A name without a dot is completed by the local network's search list, so it is internal. */
function isInternal(host: string): boolean {
  if (familyOf(host) !== 0) return !isPublicAddress(host)
  return !NAME.test(host) || INTERNAL_SUFFIXES.some((suffix) => host.endsWith(suffix))
}

/** Whether the list names this host, for whichever port. */
export function isListedHost(host: string, allow: AllowList): boolean {
  return allow.some((text) => parseEntry(text)?.host === host)
}

function isAllowed(url: URL, allow: AllowList): boolean {
  const host = bareHost(url)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return allow.some((text) => {
    const entry = parseEntry(text)
    return entry?.host === host && (entry.port === null || entry.port === port)
  })
}

function parseEntry(text: string): { host: string; port: string | null } | null {
  const entry = text.trim().toLowerCase()
  const isBareIPv6 = /^[^[]*:[^[]*:/.test(entry)
  const [, name, port] = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(
    isBareIPv6 ? `[${entry}]` : entry,
  ) ?? ['', '']
  if (!name || !isUnambiguous(name) || /[/@?#*]/.test(name)) return null
  const url = URL.parse(`http://${name}/`)
  return url && { host: bareHost(url), port: port === undefined ? null : String(Number(port)) }
}

/** The canonical host name, without the brackets of IPv6 and without one trailing dot. */
function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

function familyOf(host: string): 0 | 4 | 6 {
  if (host.includes(':')) return 6
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? 4 : 0
}

/** Whether the text has no blanks, control characters or backslashes: parsers differ on them. */
function isUnambiguous(text: string): boolean {
  return text !== '' && !/[\s\\\p{Cc}]/u.test(text)
}

function refusal(): ChannelFailure {
  return new ChannelFailure('channel_unavailable', 'host refused')
}

/** Azure's host service, which serves platform secrets, has an address that looks public. */
const PLATFORM_ADDRESSES = ['168.63.129.16']

/**
 * Whether `text` is an IP address on the open internet. All other addresses are refused:
 * loopback, private, shared (RFC 6598), link-local, multicast, documentation, benchmarking and
 * reserved ranges, IPv6 outside 2000::/3, and tunnels that carry an IPv4 address (6to4, Teredo).
 * IPv4-mapped and NAT64 addresses (RFC 6052) are judged by the IPv4 address they reach. A zone
 * (`%eth0`) names an interface of this machine, so no such address is public.
 */
function isPublicAddress(text: string): boolean {
  if (text.includes('%') || !ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (!(address instanceof ipaddr.IPv6)) return isPublicIPv4(address.toString(), address.range())
  const range = address.range()
  if (range === 'ipv4Mapped') return isPublicAddress(address.toIPv4Address().toString())
  const bytes = address.toByteArray()
  if (range === 'rfc6052' && isWellKnownNat64(address)) {
    return isPublicAddress(bytes.slice(12).join('.'))
  }
  return range === 'unicast' && ((bytes[0] ?? 0) & 0xe0) === 0x20
}

function isPublicIPv4(text: string, range: string): boolean {
  return range === 'unicast' && !PLATFORM_ADDRESSES.includes(text)
}

/** 64:ff9b::/96. A network may route the local-use prefix 64:ff9b:1::/48 (RFC 8215) anywhere. */
function isWellKnownNat64(address: ipaddr.IPv6): boolean {
  return address.match(ipaddr.IPv6.parse('64:ff9b::'), 96)
}

/** Whether a token may be sent there: over plain http to hosts alone that the operator allows. */
export function takesTokens(address: string, allow: AllowList): boolean {
  const url = URL.parse(address)
  if (url?.protocol === 'https:') return true
  return url?.protocol === 'http:' && isListedHost(url.hostname.replace(/^\[|\]$/g, ''), allow)
}
