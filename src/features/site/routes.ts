import { Elysia } from 'elysia'

/** Public pages that need no credential. */
export const siteRoutes = () =>
  new Elysia({ name: 'site' }).get('/healthz', () => TEXT_OK()).head('/healthz', () => TEXT_OK())

const TEXT_OK = () =>
  new Response('ok', { headers: { 'content-type': 'text/plain; charset=utf-8' } })
