import type { Asking } from './deadlines.ts'
import { type Answer, type Endpoint, endpointHeaders, endpointUrl, type Fetch } from './endpoint.ts'

export interface SenderOptions extends Endpoint {
  readonly fetch: Fetch
}

/**
 * Sends one request of a call below an endpoint's root, with its key. Redirects are not followed:
 * the key would travel along, and an upstream could point one at an address that only this machine
 * can reach. Throws `ChannelFailure`, or the caller's abort reason.
 */
export function createSender(options: SenderOptions) {
  const urls = new Map<string, string>()

  return async (call: Asking, path: string, init: RequestInit): Promise<Answer> => {
    try {
      const url = urls.get(path) ?? endpointUrl(options, path)
      urls.set(path, url)
      const headers = { ...endpointHeaders(options), ...init.headers }
      const { signal } = call
      call.waiting()
      return await options.fetch(url, { ...init, headers, redirect: 'manual', signal })
    } catch (error) {
      throw call.explain(error)
    }
  }
}
