/**
 * What every answer but those of the machine side carries: nothing may frame it, and no address
 * leaves with a link. JSON and plain text need no more than the strictest policy; a page replaces
 * `content-security-policy` by its own.
 */
export const SITE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const

/** For HTML besides its policy: other windows get no handle on it, and no device is asked for. */
export const PAGE_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
} as const
