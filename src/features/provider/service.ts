import { newId, type Seal } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { secretTail } from '../../core/secret-tail.ts'
import { checkLiteral, type LiteralRefusal } from '../../upstream/egress/url-guard.ts'
import type { Endpoint } from '../../upstream/net/upstream-call.ts'
import type { ProviderConfig, ProviderPutRequest, ProviderTestResponse } from './model.ts'
import type { ProviderStore, StoredProvider } from './store.ts'

export interface ProviderOptions {
  readonly store: ProviderStore
  /** Null when the operator switched encryption off; every call then answers 503. */
  readonly seal: Seal | null
  /** Private hosts that tenants may name. */
  readonly allow: () => readonly string[]
  /** Asks for one token, without retries. `model` null asks for the endpoint's default. */
  readonly probe: (
    tenantId: string,
    endpoint: Endpoint,
    model: string | null,
    signal: AbortSignal,
  ) => Promise<ProviderTestResponse>
  /** Called after a successful probe of the saved configuration. */
  readonly onWorking: (tenantId: string) => void
}

const REFUSED = {
  malformed: 'base_url_malformed',
  scheme: 'base_url_scheme',
  credentials: 'base_url_credentials',
  internal: 'base_url_internal',
} as const satisfies Record<LiteralRefusal, string>

/** The API promises the last four characters; those of a key of four would be the key itself. */
const TAIL_FROM_CHARS = 5

const NONE: ProviderConfig = { configured: false, base_url: null, key_tail: null, failover: true }

/** A tenant's own model channel: one at most. Its key is encrypted and never returned. */
export function createProvider({ store, seal, allow, probe, onWorking }: ProviderOptions) {
  function sealed(): Seal {
    if (!seal) throw appError('encryption_not_configured')
    return seal
  }

  function configOf(tenantId: string, saved: StoredProvider): ProviderConfig {
    const key = sealed().open(saved.keySealed, tenantId)
    return {
      configured: true,
      base_url: saved.baseUrl,
      key_tail: key === null ? null : secretTail(key, TAIL_FROM_CHARS),
      failover: saved.failover,
    }
  }

  return {
    /** Throws `encryption_not_configured` without encryption. */
    checkAvailable: (): void => void sealed(),

    async get(tenantId: string): Promise<ProviderConfig> {
      sealed()
      const saved = await store.get(tenantId)
      return saved ? configOf(tenantId, saved) : NONE
    },

    /** Throws `base_url_…` for an address that is not allowed. */
    async put(tenantId: string, request: ProviderPutRequest): Promise<ProviderConfig> {
      const { base_url: baseUrl, api_key: apiKey, failover } = request
      const keySealed = sealed().seal(apiKey, tenantId)
      const checked = checkLiteral(baseUrl, allow())
      if ('refused' in checked) throw appError(REFUSED[checked.refused])
      const saved = { baseUrl, keySealed, failover, revision: newId() }
      await store.put(tenantId, saved)
      return configOf(tenantId, saved)
    },

    async remove(tenantId: string): Promise<ProviderConfig> {
      sealed()
      await store.remove(tenantId)
      return NONE
    },

    /** Probes the saved configuration; throws `provider_not_configured` when there is none. */
    async test(tenantId: string, signal: AbortSignal): Promise<ProviderTestResponse> {
      const { open } = sealed()
      const saved = await store.get(tenantId)
      if (!saved) throw appError('provider_not_configured')
      const apiKey = open(saved.keySealed, tenantId)
      if (apiKey === null) return { ok: false, latency_ms: 0, error: 'key cannot be decrypted' }
      const result = await probe(tenantId, { baseUrl: saved.baseUrl, apiKey }, saved.model, signal)
      if (result.ok) onWorking(tenantId)
      return result
    },
  }
}

export type Provider = ReturnType<typeof createProvider>
