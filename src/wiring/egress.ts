import { createGuardedFetch } from '../channels/egress/guarded-fetch.ts'
import { createHappyEyeballs, probeConnect } from '../channels/egress/happy-eyeballs.ts'
import { createHostsFile } from '../channels/egress/hosts-file.ts'
import { createResolver, type DnsQuery } from '../channels/egress/resolver.ts'
import { createGuard, isListedHost } from '../channels/egress/url-guard.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'

/** One try waits this long for a name server; c-ares doubles it for the next. */
const QUERY_MS_MAX = 2_000
const QUERY_TRIES = 2

export interface EgressParts {
  readonly config: Config
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** Opens a query at the system's name servers; tests ask name servers of their own. */
  readonly openQuery?: () => Promise<DnsQuery>
}

/** Requests to addresses that tenants supply: checked, pinned, never redirected. */
export function openEgress({ config, clock, fetch, openQuery = systemQuery }: EgressParts) {
  const allow = config.MB_ALLOW_PRIVATE_HOSTS
  const resolve = createResolver({
    clock,
    openQuery,
    hostsFile: createHostsFile('/etc/hosts'),
    systemLookup: async (name) => {
      const { lookup } = await import('node:dns/promises')
      return lookup(name, { all: true })
    },
    isListed: (name) => isListedHost(name, allow),
  })
  const chooseAddress = createHappyEyeballs({ clock, probeConnect })
  return {
    fetchFor: createGuardedFetch({ guard: createGuard({ resolve, allow }), fetch, chooseAddress }),
    /** The guard without exceptions, for addresses that others will connect to. */
    publicOnly: createGuard({ resolve, allow: [] }),
  }
}

export type Egress = ReturnType<typeof openEgress>

/** A resolver for each query: it can be cancelled alone and reads resolv.conf as it is now. */
async function systemQuery(): Promise<DnsQuery> {
  const { Resolver } = await import('node:dns/promises')
  return new Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES })
}
