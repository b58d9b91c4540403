/**
 * Headers of every answer except those of the machine side: no page may frame it, and links send no
 * Referer. JSON and plain text get the strictest policy; a page sets its own
 * `content-security-policy`.
 */
export const SITE_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const

/** For HTML, besides its policy: no access from other windows, no camera or location. */
export const PAGE_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(self), payment=(), usb=()',
} as const

/** The headers that hooks have set for the coming answer, as Elysia holds them. */
export interface ResponseHeaders {
  headers: Record<string, string | number>
}

/**
 * Moves the headers into a `Response` of our own. If they stayed, Elysia would merge them by
 * wrapping the body in a second response, which costs more than the rest of its work.
 */
export function takeHeaders(set: ResponseHeaders): Record<string, string> {
  const taken: Record<string, string> = {}
  for (const [name, value] of Object.entries(set.headers)) taken[name] = String(value)
  set.headers = {}
  return taken
}
