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
/** How long a question about a context waits for an endpoint. */
const CONTEXT_MS_MAX = 1_000

export interface ModelListOptions {
  readonly store: ProviderStore
  readonly seal: Seal | null
  readonly clock: Pick<Clock, 'steady' | 'after'>
  /** Null when the built-in responder answers. */
  readonly platform: () => Endpoint | null
  /** The model of a tenant that names none; null: the first that the endpoint lists. */
  readonly defaultModel: () => string | null
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
export function createModelLists(options: ModelListOptions) {
  const { store, seal, clock, platform, defaultModel, ask } = options
  const known = createTtlMap<ModelListing>(clock, LIST_MS, PROVIDER_CHANNELS_MAX)
  /** Endpoints that have just failed, which programs would ask again and again. */
  const failed = createTtlMap<true>(clock, LIST_MS, PROVIDER_CHANNELS_MAX)
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
      else failed.set(name, true)
      return listing
    } finally {
      listings.delete(name)
    }
  }

  async function listingOf(tenantId: string, { channel, name }: Effective, endpoint: Endpoint) {
    const listing = known.get(name)
    if (listing) return listing
    const asking =
      listings.get(name) ?? askOnce(channel === 'byo' ? tenantId : null, name, endpoint)
    listings.set(name, asking)
    return asking
  }

  async function contextsOf(tenantId: string): Promise<ModelListing['contexts'] | null> {
    const effective = await effectiveOf(tenantId)
    const { name, endpoint } = effective
    if (endpoint === null || failed.get(name)) return null
    return (await listingOf(tenantId, effective, endpoint)).contexts
  }

  return {
    /** Those that can chat; any other is named by hand. */
    async list(tenantId: string): Promise<ModelListResponse> {
      const effective = await effectiveOf(tenantId)
      const { channel, endpoint } = effective
      if (endpoint === null) {
        const error_class = channel === 'byo' ? 'channel_unavailable' : null
        return { models: [], channel, error_class }
      }
      const { models, chat, failure } = await listingOf(tenantId, effective, endpoint)
      // Where none seems to chat, the list does not tell.
      return { models: [...(chat.length > 0 ? chat : models)], channel, error_class: failure }
    },

    /** How many tokens a model of the tenant's channel reads; null where that is not known. */
    async contextOf(tenantId: string, model: string | null): Promise<number | null> {
      const late = Promise.withResolvers<null>()
      const cancel = clock.after(CONTEXT_MS_MAX, () => late.resolve(null))
      const contexts = contextsOf(tenantId).catch(() => null)
      const found = await Promise.race([contexts, late.promise]).finally(cancel)
      return found?.get(model ?? defaultModel()) ?? null
    },
  }
}

export type ModelLists = ReturnType<typeof createModelLists>
