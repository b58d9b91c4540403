import ipaddr from 'ipaddr.js'

/** The part of a listening server that knows the address of a request's socket. */
export interface SocketAddresses {
  requestIP(request: Request): { readonly address: string } | null
}

/** The address when the connection is closed already or there is no socket. */
const UNKNOWN = 'unknown'

/**
 * The client's address: the socket's, or with `proxies` trusted proxies in front the hop that the
 * outermost of them saw. Entries further left in X-Forwarded-For come from the client and are
 * ignored.
 */
export const clientAddress =
  (proxies: number) =>
  (request: Request, server: SocketAddresses | null): string => {
    const socket = normal(server?.requestIP(request)?.address ?? '') ?? UNKNOWN
    if (proxies === 0) return socket
    const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').slice(-proxies)
    return hops.map(normal).find((hop) => hop !== null) ?? socket
  }

export type ClientAddress = ReturnType<typeof clientAddress>

/**
 * The unit of limits by address: an IPv4 address, or the /64 of an IPv6 address, because a single
 * subscriber gets a /64.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  const prefix = ipaddr.IPv6.parse(address).toByteArray().slice(0, 8)
  return `${Buffer.from(prefix).toString('hex')}/64`
}

/** Canonical text without port, brackets, zone or the IPv4-in-IPv6 spelling; null: no address. */
function normal(text: string): string | null {
  const hop = text.trim()
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
  const address = bare.replace(/%.*$/, '')
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address
  if (!ipaddr.IPv6.isValid(address)) return null
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : parsed.toString()
}
