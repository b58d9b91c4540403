import ipaddr from 'ipaddr.js'

/** The part of a listening server that knows who is on the other end of a request. */
export interface SocketAddresses {
  requestIP(request: Request): { readonly address: string } | null
}

/** Who asks when the connection is gone already, or there is no socket at all. */
const UNKNOWN = 'unknown'

/**
 * The client's address (contract, Client address): the socket's, or with `proxies` trusted proxies
 * in front the hop that the outermost of them saw. What stands further left in X-Forwarded-For was
 * written by the client and is not looked at.
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
 * What a limit per address counts by: an IPv4 address, but the /64 of an IPv6 one, because that is
 * what a single subscriber is given.
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
