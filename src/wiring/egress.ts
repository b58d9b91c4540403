import type { Clock } from '../core/clock.ts'
import { createGuardedFetch } from '../upstream/egress/guarded-fetch.ts'
import { createHappyEyeballs, probeConnect } from '../upstream/egress/happy-eyeballs.ts'
import { createHostsFile, createResolver, type DnsQuery } from '../upstream/egress/resolver.ts'
import { createGuard, isListedHost } from '../upstream/egress/url-guard.ts'
import type { LiveSettings } from './live-settings.ts'

/** One try waits this long for a name server; c-ares doubles it for the next. */
const QUERY_MS_MAX = 2_000
const QUERY_TRIES = 2

export interface EgressNeeds {
  readonly live: LiveSettings
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** Opens a query at the system's name servers; tests ask name servers of their own. */
  readonly openQuery: (() => Promise<DnsQuery>) | undefined
}

/** Requests to addresses that tenants supply: checked, pinned, never redirected. */
export function openEgress({ live, clock, fetch, openQuery = systemQuery }: EgressNeeds) {
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const resolve = createResolver({
    clock,
    openQuery,
    hostsFile: createHostsFile('/etc/hosts'),
    systemLookup: async (name) => {
      const { lookup } = await import('node:dns/promises')
      return lookup(name, { all: true })
    },
    isListed: (name) => isListedHost(name, allow()),
  })
  const chooseAddress = createHappyEyeballs({ clock, probeConnect })
  return {
    fetchFor: createGuardedFetch({ guard: createGuard({ resolve, allow }), fetch, chooseAddress }),
    /** The guard without exceptions, for addresses that others will connect to. */
    publicOnly: createGuard({ resolve, allow: () => [] }),
  }
}

export type Egress = ReturnType<typeof openEgress>

/** A resolver for each query: it can be cancelled alone and reads resolv.conf as it is now. */
async function systemQuery(): Promise<DnsQuery> {
  const { Resolver } = await import('node:dns/promises')
  return new Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES })
}
