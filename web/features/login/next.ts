/**
 * Where to go after signing in: a path of `origin`, else the console. What looks like a path may
 * lead elsewhere (`//host`, `/\\host`, a tab between the slashes), so the URL parser decides.
 */
export function safeNext(next: unknown, origin: string): string {
  const url = typeof next === 'string' ? URL.parse(next, origin) : null
  if (url?.origin !== origin || !String(next).startsWith('/')) return '/app'
  // `/.//host` is of this origin, and once shortened it no longer is.
  if (url.pathname.startsWith('//')) return '/app'
  return url.pathname + url.search + url.hash
}
