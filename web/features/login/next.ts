/**
 * The page after signing in: a path of `origin`, else the console. Some paths lead to other hosts
 * (`//host`, `/\\host`, a tab between the slashes), so the URL parser decides.
 */
export function safeNext(next: unknown, origin: string): string {
  if (typeof next !== 'string' || !next.startsWith('/') || !URL.canParse(next, origin))
    return '/app'
  const url = new URL(next, origin)
  if (url.origin !== origin) return '/app'
  // `/.//host` has this origin, but its normalized form `//host` has not.
  if (url.pathname.startsWith('//')) return '/app'
  return url.pathname + url.search + url.hash
}
