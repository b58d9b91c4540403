import { createGuardedFetch } from '../channels/egress/guarded-fetch.ts'
import { createReach, knock } from '../channels/egress/happy-eyeballs.ts'
import { createGuard } from '../channels/egress/url-guard.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'

/** Requests to addresses that tenants supply: checked, pinned, never redirected. */
export function guardedFetch(config: Config, clock: Clock, fetcher: typeof fetch) {
  const guard = createGuard({
    resolve: async (hostname) => {
      const { lookup } = await import('node:dns/promises')
      return lookup(hostname, { all: true })
    },
    allow: config.MB_ALLOW_PRIVATE_HOSTS,
  })
  return createGuardedFetch({ guard, fetch: fetcher, reach: createReach({ clock, knock }) })
}
