import type { Call } from './call.ts'
import { type Endpoint, endpointHeaders, endpointUrl, type Fetch } from './endpoint.ts'

export interface TransportOptions extends Endpoint {
  readonly fetch: Fetch
}

export type Transport = ReturnType<typeof createTransport>

/**
 * Sends one request of a call. Redirects are not followed: an upstream could point one at an
 * address that only this machine can reach. Throws `ChannelFailure`, or the caller's abort reason.
 */
export function createTransport(options: TransportOptions) {
  const urls = new Map<string, string>()

  async function send(call: Call, path: string, init: RequestInit): Promise<Response> {
    const url = urls.get(path) ?? endpointUrl(options, path)
    urls.set(path, url)
    const headers = { ...endpointHeaders(options), ...init.headers }
    call.waiting()
    try {
      return await options.fetch(url, {
        ...init,
        headers,
        redirect: 'manual',
        signal: call.signal,
      })
    } catch (error) {
      throw call.explain(error)
    }
  }

  return {
    list: (call: Call) => send(call, '/models', { headers: { accept: 'application/json' } }),
    /** Uncompressed: a compressor on the way would hold tokens back. */
    complete: (call: Call, body: object, accept: 'text/event-stream' | 'application/json') =>
      send(call, '/chat/completions', {
        method: 'POST',
        headers: { accept, 'accept-encoding': 'identity', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}
