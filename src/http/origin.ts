import { appError } from '../core/errors.ts'
import { isNearHost } from '../core/near-host.ts'
import { isHost } from './entry.ts'

export interface OriginOptions {
  /** The setting MB_PUBLIC_URL. */
  readonly publicUrl: () => string | undefined
  readonly proxies: number
  readonly tls: boolean
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

const hostOf = (origin: string) => new URL(origin).host

/**
 * Determines the origin of this server and refuses requests from pages of other origins. Pages
 * cannot forge `Origin` or `Host`, and browsers send `Origin` with every state-changing request; a
 * request without it does not come from a browser.
 */
export function createOrigins({ publicUrl, proxies, tls }: OriginOptions) {
  const configured = () => {
    const url = publicUrl()
    return url === undefined ? null : new URL(url).origin
  }
  const prefixed = () => {
    const url = publicUrl()
    return url === undefined
      ? null
      : new URL(url).origin + new URL(url).pathname.replace(/\/+$/, '')
  }

  /** The value of the outermost trusted proxy; null without trusted proxies. */
  function forwarded(request: Request, name: string): string | null {
    if (proxies === 0) return null
    return (request.headers.get(name) ?? '').split(',').slice(-proxies)[0]?.trim() || null
  }

  /** Null when the Host header is malformed. */
  function requested(request: Request): string | null {
    const scheme = forwarded(request, 'x-forwarded-proto') ?? (tls ? 'https' : 'http')
    const host = forwarded(request, 'x-forwarded-host') ?? request.headers.get('host') ?? ''
    return isHost(host) && /^https?$/.test(scheme) ? new URL(`${scheme}://${host}`).origin : null
  }

  /**
   * The origin of the request, whatever MB_PUBLIC_URL is. When both name one host, the scheme is
   * MB_PUBLIC_URL's, as behind a proxy that ends TLS.
   */
  function asked(request: Request): string | null {
    const [origin, published] = [requested(request), configured()]
    const same = origin !== null && published !== null && hostOf(origin) === hostOf(published)
    return same ? published : origin
  }

  return {
    /** The origin of MB_PUBLIC_URL; null without one. */
    published: configured,

    asked,

    /**
     * Whether a cookie for this request may be marked Secure: browsers drop one that came by plain
     * http, but for the machine itself. On a network of one's own there is often no https.
     */
    takesSecureCookies(request: Request): boolean {
      const origin = asked(request)
      return origin === null || origin.startsWith('https:') || !isNearHost(new URL(origin).hostname)
    },

    /**
     * The base URL of this server, without a slash at its end: MB_PUBLIC_URL with its prefix, else
     * the origin of the request. Empty when the request's Host is malformed.
     */
    base: (request: Request): string => prefixed() ?? requested(request) ?? '',

    /** The origin of MB_PUBLIC_URL, else of the request; null when that is malformed. */
    of: (request: Request): string | null => configured() ?? requested(request),

    /** Throws 403 for a state-changing request from a page of another origin. */
    check(request: Request): void {
      if (SAFE_METHODS.has(request.method)) return
      const origin = request.headers.get('origin')
      if (origin === null || origin === configured() || origin === requested(request)) return
      throw appError('cross_origin')
    },
  }
}

export type Origins = ReturnType<typeof createOrigins>
