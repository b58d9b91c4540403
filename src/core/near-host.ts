const NEAR_NAME = /^[^.]+$|\.(?:local|lan|home\.arpa)$/
/** RFC 1918 and RFC 3927; RFC 4193 and RFC 4291 (2.5.6). */
const NEAR_IPV4 = /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)[\d.]+$/
const NEAR_IPV6 = /^\[(?:f[cd]|fe[89ab])[0-9a-f]{0,2}:/

/**
 * Whether a host, as `URL.hostname` spells it, is one of a network of one's own: a private address,
 * a name of one label, or one under `.local`, `.lan` or `.home.arpa`. This machine itself is none.
 */
export function isNearHost(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.startsWith('[::')) return false
  if (hostname.startsWith('[')) return NEAR_IPV6.test(hostname)
  if (/^[\d.]+$/.test(hostname)) return NEAR_IPV4.test(hostname)
  return NEAR_NAME.test(hostname)
}
