import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'

/** The Prometheus page behind its token. */
export interface MetricsPage {
  readonly contentType: string
  /** Takes the same time for every wrong token. */
  readonly admits: (token: string) => boolean
  readonly text: () => Promise<string>
}

/** GET and HEAD of /metrics (contract, Site); 404 without MB_METRICS_TOKEN. */
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
