import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { MANUAL_PATHS } from '../../core/manual.ts'
import { PAGE_HEADERS } from '../../http/entry.ts'
import type { Origins } from '../../http/origin.ts'
import favicon from './favicon.svg' with { type: 'text' }
import type { Status } from './status.ts'
import { languageOf, STATUS_PAGE_POLICY, statusPage } from './status-page.ts'

export interface SiteParts {
  readonly origins: Origins
  readonly status: Status
  readonly takesWrites: () => boolean
}

const DAY = 'public, max-age=86400'

/** Public pages that need no credential; each answers GET and HEAD. */
export function siteRoutes({ origins, status, takesWrites }: SiteParts) {
  const pages: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    '/status': (request) => statusAnswer(request, status),
    '/robots.txt': (request) =>
      text(robots(originOf(request, origins)), 'text/plain; charset=utf-8', 'no-cache'),
    '/sitemap.xml': (request) =>
      text(sitemap(originOf(request, origins)), 'application/xml; charset=utf-8', 'no-cache'),
    '/favicon.svg': () => text(favicon, 'image/svg+xml; charset=utf-8', DAY),
  }
  /** A string, because Elysia would wrap a `Response` in a second one to add headers. */
  const alive = ({ set }: { set: { headers: Record<string, string | number> } }): string => {
    if (!takesWrites()) throw appError('database_stopped')
    set.headers['content-type'] = 'text/plain; charset=utf-8'
    return 'ok'
  }
  const routes = new Elysia({ name: 'site' }).get('/healthz', alive).head('/healthz', alive)
  for (const [path, answer] of Object.entries(pages)) {
    routes.get(path, ({ request }) => answer(request)).head(path, ({ request }) => answer(request))
  }
  return routes
}

function originOf(request: Request, origins: Origins): string {
  const origin = origins.asked(request)
  if (origin === null) throw appError('invalid_host')
  return origin
}

async function statusAnswer(request: Request, status: Status): Promise<Response> {
  const report = await status.read()
  const headers = { 'cache-control': 'no-store', vary: 'Accept, Accept-Language' }
  if (wantsJson(request)) return Response.json(report, { headers })
  const page = statusPage(report, languageOf(request.headers.get('accept-language')))
  return new Response(page, {
    headers: {
      ...PAGE_HEADERS,
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': STATUS_PAGE_POLICY,
    },
  })
}

/** Browsers put text/html first and may add JSON. */
function wantsJson(request: Request): boolean {
  if (new URL(request.url).searchParams.get('format') === 'json') return true
  const accept = request.headers.get('accept') ?? ''
  return accept.includes('application/json') && !accept.includes('text/html')
}

const text = (body: string, type: string, cache: string) =>
  new Response(body, { headers: { 'content-type': type, 'cache-control': cache } })

/** Pages that search engines may list; all others are for signed-in people or for programs. */
const PUBLIC_PATHS = ['/', ...MANUAL_PATHS, '/status']
const PRIVATE_PATHS = ['/v1/', '/console/', '/auth/', '/app/', '/s/']

/** `origin` is that of the request, validated. */
function robots(origin: string): string {
  const rules = PRIVATE_PATHS.map((path) => `Disallow: ${path}`)
  return ['User-agent: *', ...rules, '', `Sitemap: ${origin}/sitemap.xml`, ''].join('\n')
}

/** Sitemaps 0.9. A validated origin contains nothing that XML must escape. */
function sitemap(origin: string): string {
  const urls = PUBLIC_PATHS.map((path) => `  <url><loc>${origin}${path}</loc></url>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`
}

/** The Prometheus page behind its token. */
export interface MetricsPage {
  readonly contentType: string
  /** Takes the same time for every wrong token. */
  readonly admits: (token: string) => boolean
  readonly text: () => Promise<string>
}

/** GET and HEAD of /metrics; 404 without MB_METRICS_TOKEN. */
export function metricsRoutes(page: MetricsPage | null) {
  async function answer({ request }: { request: Request }): Promise<Response> {
    if (!page) throw appError('not_found', { what: 'path' })
    const token = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
    if (!page.admits(token)) throw appError('unauthorized')
    const headers = { 'content-type': page.contentType, 'cache-control': 'no-store' }
    return new Response(await page.text(), { headers })
  }
  return new Elysia({ name: 'metrics' }).get('/metrics', answer).head('/metrics', answer)
}
