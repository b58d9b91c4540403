import type { Clock } from '../../core/clock.ts'
import { newId, randomToken, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { TRIGGERS_MAX } from '../../core/limits/contract.ts'
import type { Principal, Role } from '../../core/principal.ts'
import { type Language, textOfRun } from './material.ts'
import type { IssuedTrigger, Trigger, TriggerRequest } from './model.ts'
import type { StoredTrigger, TriggerStore } from './store.ts'

/** A run that a trigger begins. */
export interface TriggeredRun {
  /** The key or the person that saved the trigger last. */
  readonly principal: Principal
  readonly trigger_id: string
  readonly name: string
  readonly text: string
  readonly app_id: string | null
  /** Null: one of its own. */
  readonly session_id: string | null
  readonly webhook_ids: readonly string[]
  /** When the trigger was saved last; epoch milliseconds. */
  readonly saved_at: number | null
}

export type StartRun = (run: TriggeredRun) => Promise<{ readonly run_id: string }>

export interface TriggerParts {
  readonly store: TriggerStore
  readonly clock: Pick<Clock, 'iso' | 'now'>
  /** Whether the tenant has the app. */
  readonly hasApp: (tenantId: string, id: string) => Promise<boolean>
  /** Whether all of these are webhooks of the tenant. */
  readonly hasWebhooks: (tenantId: string, ids: readonly string[]) => Promise<boolean>
  /** Whose talk a session is: null for no person's, undefined for one never used. */
  readonly ownerOf: (tenantId: string, sessionId: string) => Promise<string | null | undefined>
  readonly isKeyValid: (principal: Principal) => Promise<boolean>
  readonly roleIn: (tenantId: string, userId: string) => Promise<Role | null>
  /** The language of the tenant. */
  readonly languageOf: (tenantId: string) => Promise<Language>
  readonly startRun: StartRun
}

const TOKEN_BYTES = 32
const TOKEN = /^[A-Za-z0-9_-]{43}$/
const missing = () => appError('not_found', { what: 'trigger' })

/** The tenant's triggers. Every call answers 404 for one that is not the tenant's. */
export function createTriggers(parts: TriggerParts) {
  const { store, clock, startRun } = parts

  async function read(tenantId: string, id: string): Promise<Trigger> {
    const trigger = await store.find(tenantId, id)
    if (!trigger) throw missing()
    return shown(trigger)
  }

  async function checkReferences(tenantId: string, { app_id, webhook_ids }: TriggerRequest) {
    if (app_id !== null && !(await parts.hasApp(tenantId, app_id))) {
      throw appError('not_found', { what: 'app' })
    }
    if (!(await parts.hasWebhooks(tenantId, webhook_ids))) {
      throw appError('not_found', { what: 'webhook' })
    }
  }

  return {
    async list(tenantId: string, before: string | null, limit: number) {
      const rows = await store.list(tenantId, before, limit + 1)
      const triggers = rows.slice(0, limit).map(shown)
      const next_before = rows.length > limit ? (triggers.at(-1)?.id ?? null) : null
      return { triggers, next_before }
    },

    /** Throws `quota_triggers`. `base` is the address of this server. */
    async create(
      { tenantId, keyId, userId }: Principal,
      base: string,
      request: TriggerRequest,
    ): Promise<IssuedTrigger> {
      await checkReferences(tenantId, request)
      const token = randomToken(TOKEN_BYTES)
      const trigger: StoredTrigger = {
        id: newId(),
        ...request,
        last_at: null,
        count: 0,
        created_at: clock.iso(),
        tenantId,
        keyId,
        userId,
        savedAt: clock.now(),
      }
      if (!(await store.insert(trigger, sha256Hex(token), TRIGGERS_MAX))) {
        throw appError('quota_triggers', { max: TRIGGERS_MAX })
      }
      return { ...shown(trigger), url: `${base}/hooks/${token}` }
    },

    /** Whoever writes what is asked answers for it: its runs are the principal's from now on. */
    async replace(principal: Principal, id: string, request: TriggerRequest): Promise<Trigger> {
      const { tenantId } = principal
      await read(tenantId, id)
      await checkReferences(tenantId, request)
      if (!(await store.replace(principal, id, request, clock.now()))) throw missing()
      return read(tenantId, id)
    },

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      if (!(await store.remove(tenantId, id))) throw missing()
      return { id, deleted: true }
    },

    /** The trigger of a token; 404 for any other, and for one that is disabled. */
    async open(token: string): Promise<StoredTrigger> {
      const trigger = TOKEN.test(token) ? await store.ofToken(sha256Hex(token)) : null
      if (!trigger) throw missing()
      return trigger
    },

    /** Begins a run as the key or the person that saved the trigger; 404 once they are gone. */
    async call(trigger: StoredTrigger, body: string): Promise<{ run_id: string }> {
      const principal = await saverOf(parts, trigger)
      const { id, name, app_id, webhook_ids, session } = trigger
      const started = await startRun({
        principal,
        trigger_id: id,
        name,
        text: textOfRun(trigger.text, body, await parts.languageOf(trigger.tenantId)),
        app_id,
        session_id: session === 'same' ? await sessionOf(parts, principal, id) : null,
        webhook_ids,
        saved_at: trigger.savedAt,
      })
      await store.called(id, clock.iso())
      return started
    },
  }
}

export type Triggers = ReturnType<typeof createTriggers>

async function saverOf(
  { isKeyValid, roleIn }: TriggerParts,
  { tenantId, keyId, userId, app_id }: StoredTrigger,
): Promise<Principal> {
  const common = { tenantId, appId: app_id, deviceId: null }
  if (userId === null) {
    const principal: Principal = { ...common, kind: 'general', keyId, userId: null }
    if (!(await isKeyValid(principal))) throw missing()
    return principal
  }
  const role = await roleIn(tenantId, userId)
  if (role === null) throw missing()
  return { ...common, kind: 'session', keyId: null, userId, role }
}

/** The session of all its runs; another one where that of the trigger is another person's. */
async function sessionOf(
  { ownerOf }: TriggerParts,
  { tenantId, keyId, userId }: Principal,
  id: string,
): Promise<string> {
  const first = `trg-${id}`
  const owner = await ownerOf(tenantId, first)
  return owner === undefined || owner === userId ? first : `${first}-${userId ?? keyId}`
}

const shown = ({
  tenantId: _,
  keyId: __,
  userId: ___,
  savedAt: ____,
  ...trigger
}: StoredTrigger): Trigger => trigger
