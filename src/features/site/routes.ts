import { Elysia } from 'elysia'

/** Public pages that need no credential. */
export const siteRoutes = () =>
  new Elysia({ name: 'site' }).get('/healthz', alive).head('/healthz', alive)

/** A string and not a `Response`: Elysia would wrap the latter in a second one to add headers. */
function alive({ set }: { set: { headers: Record<string, string | number> } }): string {
  set.headers['content-type'] = 'text/plain; charset=utf-8'
  return 'ok'
}
