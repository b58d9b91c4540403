export interface CookieOptions {
  readonly path: string
  readonly maxAgeSeconds: number
  readonly secure: boolean
}

/** A Set-Cookie value for a token without special characters; out of reach of scripts. */
export function cookie(name: string, value: string, options: CookieOptions): string {
  const { path, maxAgeSeconds, secure } = options
  const parts = [`${name}=${value}`, `Path=${path}`, `Max-Age=${maxAgeSeconds}`, 'HttpOnly']
  return [...parts, 'SameSite=Lax', ...(secure ? ['Secure'] : [])].join('; ')
}

/**
 * All values a request carries under `name`. There can be several, because a neighbouring host may
 * plant a cookie beside ours; the first few are enough to find ours among them.
 */
export function cookieValues(request: Request, name: string): string[] {
  return (request.headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, 4)
    .map((pair) => pair.slice(name.length + 1))
}
