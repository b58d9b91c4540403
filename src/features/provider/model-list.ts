import { createTtlMap } from '../../core/bounded-maps.ts'
import type { Clock } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { PROVIDER_CHANNELS_MAX } from '../../core/limits/machine.ts'
import type { Endpoint } from '../../upstream/net/upstream-call.ts'
import type { ModelListing } from '../../upstream/ports/llm.ts'
import type { ModelListResponse } from './model.ts'
import type { ProviderStore } from './store.ts'

/** How long a list is cached. */
const LIST_MS = 60_000

export interface ModelListOptions {
  readonly store: ProviderStore
  readonly seal: Seal | null
  readonly clock: Pick<Clock, 'steady'>
  /** Null when the built-in responder answers. */
  readonly platform: () => Endpoint | null
  /** Asks an endpoint for its models; the platform's where the tenant is null. Never throws. */
  readonly ask: (tenantId: string | null, endpoint: Endpoint) => Promise<ModelListing>
}

interface Effective {
  readonly channel: ModelListResponse['channel']
  /** Name of the list in the cache. */
  readonly name: string
  /** Null when there is no endpoint to ask. */
  readonly endpoint: Endpoint | null
}

/** Which models a tenant may name: those that its channel lists. */
export function createModelLists({ store, seal, clock, platform, ask }: ModelListOptions) {
  const known = createTtlMap<ModelListing>(clock, LIST_MS, PROVIDER_CHANNELS_MAX)
  /** Requests under way, so that several pages share one. */
  const listings = new Map<string, Promise<ModelListing>>()

  async function effectiveOf(tenantId: string): Promise<Effective> {
    const saved = await store.get(tenantId)
    if (!saved) {
      const endpoint = platform()
      return { channel: 'platform', name: `/${endpoint?.baseUrl}`, endpoint }
    }
    const apiKey = seal?.open(saved.keySealed, tenantId) ?? null
    const endpoint = apiKey === null ? null : { baseUrl: saved.baseUrl, apiKey }
    return { channel: 'byo', name: `${tenantId}/${saved.revision}`, endpoint }
  }

  /** Asks the endpoint and caches a list; a failure is not cached. */
  async function askOnce(tenantId: string | null, name: string, endpoint: Endpoint) {
    try {
      const listing = await ask(tenantId, endpoint)
      if (listing.failure === null) known.set(name, listing)
      return listing
    } finally {
      listings.delete(name)
    }
  }

  return {
    async list(tenantId: string): Promise<ModelListResponse> {
      const { channel, name, endpoint } = await effectiveOf(tenantId)
      if (endpoint === null) {
        const error_class = channel === 'byo' ? 'channel_unavailable' : null
        return { models: [], channel, error_class }
      }
      let listing = known.get(name)
      if (!listing) {
        const asking =
          listings.get(name) ?? askOnce(channel === 'byo' ? tenantId : null, name, endpoint)
        listings.set(name, asking)
        listing = await asking
      }
      return { models: [...listing.models], channel, error_class: listing.failure }
    },
  }
}

export type ModelLists = ReturnType<typeof createModelLists>
