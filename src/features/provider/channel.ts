import type { Clock } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { PROVIDER_CHANNELS_MAX } from '../../core/limits/machine.ts'
import type { Logger } from '../../core/log.ts'
import type { Endpoint } from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { Llm } from '../../upstream/ports/llm.ts'
import { type Breaker, breaker } from '../../upstream/resilience/breaker.ts'
import type { ChannelChoice } from '../agent/channel-choice.ts'
import type { ProviderStore, StoredProvider } from './store.ts'

export interface ProviderChannelOptions {
  readonly store: ProviderStore
  readonly seal: Seal | null
  readonly clock: Clock
  readonly log: Logger
  /** The model behind a tenant's endpoint, with its retries. */
  readonly connect: (tenantId: string, endpoint: Endpoint) => Llm
  /** The model of a tenant that names none; `connect` uses it, too. */
  readonly defaultModel: () => string | null
  /** As the settings of the server say now. */
  readonly platform: { readonly current: { readonly llm: Llm } }
}

interface Open {
  readonly revision: string
  readonly defaultModel: string | null
  readonly llm: Breaker
}

/** Stands for a channel whose key cannot be decrypted: each call fails. */
const UNREADABLE: Llm = {
  name: 'unreadable',
  open: () => Promise.reject(new ChannelFailure('channel_unavailable', 'key cannot be decrypted')),
}

/**
 * Chooses the model that answers a tenant: its own when it has configured one. What was learnt
 * about an endpoint (fields that it refuses, the state of its breaker) stays in memory for the most
 * recent tenants, until the configuration is saved again.
 */
export function createProviderChannels(options: ProviderChannelOptions) {
  const { store, seal, clock, log, connect, defaultModel, platform } = options
  /** Least recently used first. */
  const open = new Map<string, Open>()

  function modelOf(tenantId: string, saved: StoredProvider): Breaker {
    const known = open.get(tenantId)
    open.delete(tenantId)
    const isCurrent = known?.revision === saved.revision && known.defaultModel === defaultModel()
    const entry = isCurrent ? known : begin(tenantId, saved)
    open.set(tenantId, entry)
    const [oldest] = open.keys()
    if (open.size > PROVIDER_CHANNELS_MAX && oldest !== undefined) open.delete(oldest)
    return entry.llm
  }

  function begin(tenantId: string, { baseUrl, keySealed, revision }: StoredProvider): Open {
    const apiKey = seal?.open(keySealed, tenantId) ?? null
    const llm = apiKey === null ? UNREADABLE : connect(tenantId, { baseUrl, apiKey })
    const onOpen = ({ reason, phrase }: ChannelFailure) =>
      log.warn('channel skipped for a while', { tenant: tenantId, reason, cause: phrase })
    return { revision, defaultModel: defaultModel(), llm: breaker(llm, { clock, onOpen }) }
  }

  return {
    async channelOf(tenantId: string): Promise<ChannelChoice> {
      const saved = await store.get(tenantId)
      if (!saved) {
        open.delete(tenantId)
        return {
          label: 'platform',
          llm: platform.current.llm,
          fallback: null,
          isCurrent: async () => true,
        }
      }
      const llm = modelOf(tenantId, saved)
      const isCurrent = async () => (await store.get(tenantId))?.revision === saved.revision
      // Without failover no other channel could answer, so calls bypass the breaker.
      return saved.failover
        ? { label: 'byo', llm, fallback: platform.current.llm, isCurrent }
        : { label: 'byo', llm: llm.inner, fallback: null, isCurrent }
    },

    /** Closes the breaker after a successful probe of the tenant's channel. */
    onWorking: (tenantId: string): void => open.get(tenantId)?.llm.reset(),
  }
}
