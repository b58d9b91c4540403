import { createGuardedFetch } from '../channels/guarded-fetch.ts'
import { createGuard } from '../channels/url-guard.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createCalculator } from '../features/agent/tools/calculator.ts'
import { createCurrentTime } from '../features/agent/tools/current-time.ts'
import { createFetchUrl } from '../features/agent/tools/fetch-url.ts'
import type { Tool } from '../features/agent/tools/tool.ts'

/** Requests to addresses that tenants supply: checked, pinned, never redirected. */
export function guardedFetch(config: Config, fetcher: typeof fetch) {
  const guard = createGuard({
    resolve: async (hostname) => {
      const { lookup } = await import('node:dns/promises')
      return lookup(hostname, { all: true })
    },
    allow: config.MB_ALLOW_PRIVATE_HOSTS,
  })
  return createGuardedFetch({ guard, fetch: fetcher })
}

/** The built-in tools, in the order a model is offered them. */
export function builtInTools(config: Config, clock: Clock, fetcher: typeof fetch): Tool[] {
  return [
    createCurrentTime({ clock }),
    createCalculator(),
    createFetchUrl({ fetch: guardedFetch(config, fetcher), clock }),
  ]
}
