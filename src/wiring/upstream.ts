import { createHttpClient } from '../channels/http1/client.ts'
import type { Fetch } from '../channels/net/endpoint.ts'

/** How the operator's own model servers are asked: by `fetch` where it goes through a proxy. */
export const upstreamFetch = (fetch: Fetch, env: Readonly<Record<string, string | undefined>>) =>
  usesProxy(env) ? fetch : createHttpClient({ fetch })

const usesProxy = (env: Readonly<Record<string, string | undefined>>): boolean =>
  ['http_proxy', 'https_proxy'].some((name) => env[name] || env[name.toUpperCase()])
