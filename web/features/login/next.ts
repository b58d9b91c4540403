/**
 * The page after signing in: a path of `origin`, else the console. Some paths lead to other hosts
 * (`//host`, `/\\host`, a tab between the slashes), so the URL parser decides.
 */
export function safeNext(next: unknown, origin: string): string {
  const url = typeof next === 'string' ? URL.parse(next, origin) : null
  if (url?.origin !== origin || !String(next).startsWith('/')) return '/app'
  // `/.//host` has this origin, but its normalized form `//host` has not.
  if (url.pathname.startsWith('//')) return '/app'
  return url.pathname + url.search + url.hash
}
