import { type Endpoint, endpointHeaders, endpointUrl } from '../net/endpoint.ts'
import type { UpstreamFetch } from '../net/upstream-fetch.ts'

/** What asking an endpoint for its list of models showed; costs nothing at any vendor. */
export type Availability =
  | 'ok'
  | 'timeout'
  | 'connection_failed'
  | 'unauthorized'
  | 'http_4xx'
  | 'http_5xx'

/** An endpoint without such a list still shows by its answer that it is there. */
const NO_LIST = new Set([404, 405, 501])

/** Tells whether an OpenAI-compatible endpoint answers and takes the key. Never throws. */
export async function availability(
  endpoint: Endpoint & { readonly fetch: UpstreamFetch },
  signal: AbortSignal,
): Promise<Availability> {
  try {
    const response = await endpoint.fetch(endpointUrl(endpoint, '/models'), {
      headers: { accept: 'application/json', ...endpointHeaders(endpoint) },
      signal,
    })
    await response.body?.cancel()
    return judge(response.status)
  } catch {
    return signal.aborted ? 'timeout' : 'connection_failed'
  }
}

function judge(status: number): Availability {
  if (status < 400 || NO_LIST.has(status)) return 'ok'
  if (status === 401 || status === 403) return 'unauthorized'
  return status < 500 ? 'http_4xx' : 'http_5xx'
}
