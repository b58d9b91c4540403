import { readFileSync, statSync } from 'node:fs'
import ipaddr from 'ipaddr.js'
import { createTtlMap } from '../../core/bounded-maps.ts'
import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import {
  HOST_ADDRESSES_MAX,
  RESOLVES_AT_ONCE_MAX,
  RESOLVES_PER_TENANT_MAX,
} from '../../core/limits/machine.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { Resolve, ResolvedAddress } from './url-guard.ts'

/** One query by `dns.promises.Resolver` (c-ares): UDP sockets of its own, no thread. */
export interface DnsQuery {
  resolve4(name: string): Promise<string[]>
  resolve6(name: string): Promise<string[]>
  cancel(): void
}

export interface ResolverOptions {
  readonly clock: Pick<Clock, 'after' | 'steady'>
  readonly openQuery: () => Promise<DnsQuery>
  readonly hostsFile: HostsFile
  /** The system's resolver (getaddrinfo), which takes a thread of the runtime until it answers. */
  readonly systemLookup: (name: string) => Promise<readonly ResolvedAddress[]>
  /** Whether the operator lists this host in MB_ALLOW_PRIVATE_HOSTS. */
  readonly isListed: (name: string) => boolean
}

/** Time limit of one name, including repeated queries. */
const RESOLVE_MS_MAX = 5_000
/**
 * When one address family is known, the other has this long (RFC 8305, section 3, suggests 50 ms):
 * some name servers answer no queries for IPv6 at all.
 */
const OTHER_FAMILY_MS_MAX = 250
/** A name that failed is not asked for again for this long, for all tenants. */
const FAILED_MS = 30_000
const FAILED_NAMES_MAX = 10_000
/** A listed name that only the system knows is not asked for in DNS again for this long. */
const SYSTEM_NAME_MS = 10 * MINUTE_MS
const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * Resolves names that tenants supply, in this order: `localhost` is this machine (RFC 6761), then
 * the hosts file, then DNS. For the names that the operator lists, the system's resolver is asked
 * last: it also knows search domains and mDNS. Other names never reach it, because a name server
 * that does not answer would hold one of the runtime's few threads for ten seconds or more, and the
 * operator's own upstreams are resolved by the same threads.
 *
 * Tenants take turns query by query. Rejects with the signal's reason when it aborts.
 */
export function createResolver(options: ResolverOptions): Resolve {
  const { clock, openQuery, hostsFile, systemLookup, isListed } = options
  const failed = createTtlMap<true>(clock, FAILED_MS, FAILED_NAMES_MAX)
  const queries = createSemaphore({
    slots: RESOLVES_AT_ONCE_MAX,
    perKey: RESOLVES_PER_TENANT_MAX,
  })
  const systemNames = createTtlMap<true>(clock, SYSTEM_NAME_MS, FAILED_NAMES_MAX)
  const systemQueries = createSemaphore({ slots: 1 })

  /** Rejects when the name has no address or no name server answers. */
  async function ask(name: string, signal?: AbortSignal): Promise<readonly ResolvedAddress[]> {
    const query = await openQuery()
    signal?.throwIfAborted()
    const cancel = () => query.cancel()
    const timers = [clock.after(RESOLVE_MS_MAX, cancel)]
    signal?.addEventListener('abort', cancel, { once: true })
    const families = [query.resolve4(name), query.resolve6(name)] as const
    const oneIsKnown = () => timers.push(clock.after(OTHER_FAMILY_MS_MAX, cancel))
    Promise.any(families).then(oneIsKnown, () => {})
    try {
      const [v4, v6] = await Promise.allSettled(families)
      signal?.throwIfAborted()
      const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)]
      if (found.length > 0) return found
      throw v4.status === 'rejected' ? v4.reason : new Error('the name has no address')
    } finally {
      for (const stop of timers) stop()
      signal?.removeEventListener('abort', cancel)
    }
  }

  async function askSystem(name: string, tenantId: string, signal?: AbortSignal) {
    const addresses = await systemQueries.run(tenantId, () => systemLookup(name), signal)
    systemNames.set(name, true)
    return addresses
  }

  async function askAll(name: string, tenantId: string, signal?: AbortSignal) {
    if (systemNames.get(name)) return askSystem(name, tenantId, signal)
    try {
      return await queries.run(tenantId, () => ask(name, signal), signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isListed(name)) throw error
      return askSystem(name, tenantId, signal)
    }
  }

  return async (name, { tenantId, signal }) => {
    if (/(^|\.)localhost$/.test(name)) return LOOPBACK
    const known = hostsFile(name)
    if (known.length > 0) return known
    if (failed.get(name)) throw new Error('the name did not resolve a moment ago')
    try {
      return await askAll(name, tenantId, signal)
    } catch (error) {
      signal?.throwIfAborted()
      failed.set(name, true)
      throw error
    }
  }
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): ResolvedAddress[] {
  if (answer.status === 'rejected') return []
  return answer.value.slice(0, HOST_ADDRESSES_MAX).map((address) => ({ address, family }))
}

/** The addresses of a name in the hosts file; none when it is not there. */
export type HostsFile = (name: string) => readonly ResolvedAddress[]

/**
 * Reads the system's hosts file (hosts(5)), again whenever it has changed. Docker and operators
 * name the machines of a local network there, such as `host.docker.internal`.
 */
export function createHostsFile(path: string): HostsFile {
  let version = ''
  let entries = new Map<string, ResolvedAddress[]>()

  return (name) => {
    const stat = statSync(path, { throwIfNoEntry: false })
    const current = stat ? `${stat.mtimeMs} ${stat.size}` : ''
    if (current !== version) {
      version = current
      entries = parse(stat ? readFileSync(path, 'utf8') : '')
    }
    return entries.get(name) ?? []
  }
}

function parse(text: string): Map<string, ResolvedAddress[]> {
  const entries = new Map<string, ResolvedAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = familyOf(address)
    if (family === null) continue
    for (const name of names.map((text) => text.toLowerCase())) {
      entries.set(name, [...(entries.get(name) ?? []), { address, family }])
    }
  }
  return entries
}

function familyOf(address: string): 4 | 6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return 4
  return ipaddr.IPv6.isValid(address) ? 6 : null
}
