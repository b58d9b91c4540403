import type { Clock } from '../../core/clock.ts'
import { newId, randomHex, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { RATE_LIMIT_DEFAULT, RATE_LIMIT_MAX } from '../../core/limits/contract.ts'
import { KEYS_MAX } from '../../core/limits/machine.ts'
import { withinOwn } from '../../core/own-limits.ts'
import type { Principal } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import { revokeMade } from './made-store.ts'
import type {
  ApiKeyMeta,
  IssueKeyResponse,
  KeyUpdateRequest,
  MadeByKey,
  StoredKey,
} from './model.ts'
import {
  type KeyLimits,
  type KeyStore,
  type NewKey,
  revokeKeysOfApp,
  revokeKeysOfDevice,
  revokeKeysOfPerson,
} from './store.ts'

const KEY_PREFIX = 'sk-mb-'
const KEY_FORM = /^sk-mb-[0-9a-f]{64}$/
/** Characters of a key that lists show: its first and its last. */
const SHOWN_CHARS = 8
const TAIL_CHARS = 4

const missing = () => appError('not_found', { what: 'key' })
const tooMany = () => appError('quota_keys', { max: KEYS_MAX })

export interface KeyScope {
  readonly name?: string | undefined
  readonly rateLimit?: number
  /** Tokens a day; 0 is no budget. */
  readonly dailyTokens?: number
  readonly appId?: string | null
  readonly deviceId?: string | null
  /** The key that makes it; null: a person. */
  readonly madeBy?: string | null
  /** The person who makes it; null: a key, or the server. */
  readonly personId?: string | null
}

/** How a key was used: when last, in epoch milliseconds, and how often in the last seven days. */
export interface KeyActivity {
  readonly lastUsedAt: number | null
  readonly calls: number
}

export interface KeysOptions {
  readonly store: KeyStore
  readonly clock: Clock
  /** How keys of the tenant were used, by id. A key that never was is missing. */
  readonly activity?: (tenantId: string) => Promise<ReadonlyMap<string, KeyActivity>>
  /** Ends turns and sockets on revoked keys; awaited before a revocation is answered. */
  readonly onRevoked?: (tenantId: string) => Promise<void>
}

/** Who makes something: a key, or a person. */
export type Maker = Pick<Principal, 'tenantId' | 'keyId'> & Partial<Pick<Principal, 'userId'>>

const nothingIsOpen = async () => {}
const nothingIsKnown = async () => new Map<string, KeyActivity>()

/** The secret part of the key with this id, 64 hexadecimal digits. */
export type KeySecret = (id: string) => string

const randomSecret: KeySecret = () => randomHex(32)

/** The text of a key, and the parts of it that its row stores. */
function keyOf(secret: string) {
  const key = KEY_PREFIX + secret
  const [prefix, tail] = [key.slice(0, SHOWN_CHARS), key.slice(-TAIL_CHARS)]
  return { key, hash: sha256Hex(key), prefix, tail }
}

/** Makes a key and its row; the caller stores the row together with rows of its own. */
function mintKey(
  clock: Clock,
  tenantId: string,
  scope: KeyScope,
  secretOf: KeySecret,
): { issued: IssueKeyResponse; row: NewKey } {
  const id = newId()
  const { key, hash, prefix, tail } = keyOf(secretOf(id))
  const row: NewKey = {
    id,
    tenantId,
    hash,
    prefix,
    tail,
    name: scope.name ?? '',
    rateLimit: Math.min(scope.rateLimit ?? RATE_LIMIT_DEFAULT, RATE_LIMIT_MAX),
    dailyTokens: scope.dailyTokens ?? 0,
    appId: scope.appId ?? null,
    deviceId: scope.deviceId ?? null,
    madeBy: scope.madeBy ?? null,
    personId: scope.personId ?? null,
    createdAt: clock.now(),
  }
  const issued = { id: row.id, prefix: row.prefix, rate_limit: row.rateLimit, key }
  return { issued, row }
}

/** What keys may give to what they make. */
function createLimits(store: Pick<KeyStore, 'limitsOf'>) {
  /** The limits of the key that makes something; none for a person. Throws `invalid_key`. */
  async function ownLimits({ tenantId, keyId }: Maker): Promise<KeyLimits> {
    if (keyId === null) return { rateLimit: 0, dailyTokens: 0 }
    const limits = await store.limitsOf(tenantId, keyId)
    if (!limits) throw appError('invalid_key')
    return limits
  }

  return {
    ownLimits,

    /**
     * The limits of a key that the caller makes. Throws `above_own_limit` where those asked for are
     * above the caller's own.
     */
    async limitsWithin(maker: Maker, wanted: Partial<KeyLimits>): Promise<KeyLimits> {
      const own = await ownLimits(maker)
      return {
        rateLimit: withinOwn('rate_limit', own.rateLimit, wanted.rateLimit, RATE_LIMIT_DEFAULT),
        dailyTokens: withinOwn('daily_tokens', own.dailyTokens, wanted.dailyTokens, 0),
      }
    },
  }
}

/** Ends keys, and tells what else would have to end with them. */
function createRevocation(options: KeysOptions) {
  const { store, clock, activity = nothingIsKnown, onRevoked = nothingIsOpen } = options
  return {
    /**
     * Revokes a key, and `withMade` what it has made; idempotent. Throws `not_found` for a key of
     * another tenant.
     */
    async revoke(tenantId: string, id: string, withMade = false) {
      const at = clock.now()
      const more = withMade ? revokeMade(tenantId, id, at) : []
      if (!(await store.revoke(tenantId, id, at, more))) throw missing()
      await onRevoked(tenantId)
      return { id, revoked: true as const }
    },

    /** What a key has made that is still good. Throws `not_found` for a key of another tenant. */
    async madeBy(tenantId: string, id: string): Promise<MadeByKey> {
      const now = clock.iso()
      const [known, keys, devices, shares, used] = await Promise.all([
        store.has(tenantId, id),
        store.made.keys(tenantId, id),
        store.made.devices(tenantId, id, now),
        store.made.shares(tenantId, id, now),
        activity(tenantId),
      ])
      if (!known) throw missing()
      return { keys: keys.map((key) => metaOf(key, used.get(key.id))), devices, shares }
    },
  }
}
type Limits = ReturnType<typeof createLimits>

type Mint = (tenantId: string, scope?: KeyScope) => { issued: IssueKeyResponse; row: NewKey }

/** Issues keys; each is stored before it is returned. */
const issuing = (store: KeyStore, mint: Mint, { ownLimits }: Limits) => ({
  /** Throws `quota_keys` at the quota. */
  async issue(tenantId: string, scope: KeyScope = {}): Promise<IssueKeyResponse> {
    const { issued, row } = mint(tenantId, scope)
    if (!(await store.insert(row, KEYS_MAX))) throw tooMany()
    return issued
  },

  /**
   * Like `issue`, in one transaction with a statement that changes one row as long as the key may
   * be issued; null, and no key, when it changes none.
   */
  async issueHeld(
    tenantId: string,
    scope: KeyScope,
    hold: Statement,
  ): Promise<IssueKeyResponse | null> {
    const { issued, row } = mint(tenantId, scope)
    const isStored = await store.insertHeld(row, KEYS_MAX, hold)
    if (isStored === false) throw tooMany()
    return isStored && issued
  },

  /**
   * Issues a key whose calls use the app's configuration; null when the tenant has no such app.
   * Throws `quota_keys` at the quota.
   */
  async issueForApp(
    tenantId: string,
    appId: string,
    scope: Omit<KeyScope, 'appId' | 'deviceId'>,
  ): Promise<IssueKeyResponse | null> {
    const { issued, row } = mint(tenantId, { ...scope, appId })
    if (await store.insertForApp(row, appId, KEYS_MAX)) return issued
    if ((await store.count(tenantId)) >= KEYS_MAX) throw tooMany()
    await ownLimits({ tenantId, keyId: row.madeBy })
    return null
  },
})

/** Statements that revoke keys, for others to execute together with their own. */
const revocations = (clock: Clock) => ({
  /** The statement that a device's recode or deletion executes together with its own. */
  revokeOfDevice: (tenantId: string, deviceId: string): Statement =>
    revokeKeysOfDevice(tenantId, deviceId, clock.now()),

  /** The statement that the removal of a member executes together with its own. */
  revokeOfPerson: (tenantId: string, userId: string): Statement =>
    revokeKeysOfPerson(tenantId, userId, clock.now()),

  /** The statement that an app's deletion executes together with its own. */
  revokeOfApp: (tenantId: string, appId: string): Statement =>
    revokeKeysOfApp(tenantId, appId, clock.now()),
})

/** Issues, finds and revokes API keys of every kind. */
export function createKeys(options: KeysOptions) {
  const { store, clock, activity = nothingIsKnown, onRevoked = nothingIsOpen } = options

  const limits = createLimits(store)

  const mint = (tenantId: string, scope: KeyScope = {}, secretOf: KeySecret = randomSecret) =>
    mintKey(clock, tenantId, scope, secretOf)

  return {
    mint,

    ...limits,

    ...createRevocation(options),

    ofSecret: keyOf,

    ...revocations(clock),
    ...issuing(store, mint, limits),

    /** To be called once a statement of one of the `revoke…` below is committed. */
    onRevoked,

    /** Whether a key is still valid, for work that waited since the request was admitted. */
    stillValid: async ({ tenantId, keyId }: Principal): Promise<boolean> =>
      keyId === null || (await store.budgetOf(tenantId, keyId)) !== null,

    /** The daily budget of a key that is still valid; null for any other. */
    budgetOf: store.budgetOf,

    async list(tenantId: string): Promise<{ keys: ApiKeyMeta[] }> {
      const [keys, used] = await Promise.all([store.list(tenantId), activity(tenantId)])
      return { keys: keys.map((key) => metaOf(key, used.get(key.id))) }
    },

    /** Throws `forbidden_role` for a key that opens the whole tenant, unless an owner asks. */
    async checkManages({ tenantId, role }: Principal, id: string): Promise<void> {
      const key = await store.boundTo(tenantId, id)
      const isGeneral = key?.app_id === null && key.device_id === null
      if (isGeneral && role !== 'owner') throw appError('forbidden_role')
    },

    /** Changes the given fields of a key. Throws `not_found` for a key of another tenant. */
    async update(tenantId: string, id: string, to: KeyUpdateRequest): Promise<ApiKeyMeta> {
      const key = await store.update(tenantId, id, to)
      if (!key) throw missing()
      return metaOf(key, (await activity(tenantId)).get(id))
    },

    /** The principal and rate limit of a valid key; null for any other text. */
    find: async (token: string) =>
      KEY_FORM.test(token) ? store.findByHash(sha256Hex(token)) : null,
  }
}

const metaOf = (key: StoredKey, used: KeyActivity | undefined): ApiKeyMeta => ({
  ...key,
  last_used_at: used?.lastUsedAt ? new Date(used.lastUsedAt).toISOString() : null,
  calls_7d: used?.calls ?? 0,
})

export type Keys = ReturnType<typeof createKeys>
