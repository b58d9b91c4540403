import ipaddr from 'ipaddr.js'

/** Azure's host service, which serves platform secrets, has an address that looks public. */
const PLATFORM_ADDRESSES = ['168.63.129.16']

/**
 * Whether `text` is an IP address on the open internet. All other addresses are refused:
 * loopback, private, shared (RFC 6598), link-local, multicast, documentation, benchmarking and
 * reserved ranges, IPv6 outside 2000::/3, and tunnels that carry an IPv4 address (6to4, Teredo).
 * IPv4-mapped and NAT64 addresses (RFC 6052) are judged by the IPv4 address they reach. A zone
 * (`%eth0`) names an interface of this machine, so no such address is public.
 */
export function isPublicAddress(text: string): boolean {
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
