import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { TURN_MS_MAX } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import type { Keys } from '../keys/service.ts'
import type { ShareStore } from '../shares/store.ts'
import type { Tenants } from '../tenants/service.ts'
import type { Channel } from './model-call.ts'

export interface OpenTurnsOptions {
  readonly clock: Pick<Clock, 'after' | 'iso'>
  readonly keys: Pick<Keys, 'stillValid'>
  readonly tenants: Pick<Tenants, 'roleIn'>
  readonly shares: Pick<ShareStore, 'isOpen'>
}

/** How a running turn learns that it must stop. */
export interface TurnGuard {
  /** Aborts when the client leaves, and with an error when the turn may not go on. */
  readonly signal: AbortSignal
  /**
   * Waits until the credential was checked. Throws the reason of an aborted signal. Also throws
   * when `channel` is no longer configured: it gets no new call, but an answer that it has begun
   * may end.
   */
  confirm(channel?: Channel): Promise<void>
}

interface WatchedTurn {
  readonly principal: Principal
  readonly stop: AbortController
}

/**
 * The turns that run or wait for others of their session. A turn ends as soon as its credential is
 * revoked or its person disabled, and after `TURN_MS_MAX` in any case: an upstream that sends a
 * comment now and then could otherwise hold it for ever.
 */
export function createOpenTurns(options: OpenTurnsOptions) {
  const { clock } = options
  const byTenant = new Map<string, Set<WatchedTurn>>()

  /** Ends the turn when its credential was revoked. */
  async function recheck({ principal, stop }: WatchedTurn): Promise<void> {
    try {
      if (await stillValid(options, principal)) return
      stop.abort(appError(principal.keyId === null ? 'not_signed_in' : 'invalid_key'))
    } catch (error) {
      stop.abort(error)
    }
  }

  function add(turn: WatchedTurn): void {
    const { tenantId } = turn.principal
    const turns = byTenant.get(tenantId) ?? new Set()
    byTenant.set(tenantId, turns.add(turn))
  }

  function remove(turn: WatchedTurn): void {
    const { tenantId } = turn.principal
    const turns = byTenant.get(tenantId)
    turns?.delete(turn)
    if (turns?.size === 0) byTenant.delete(tenantId)
  }

  const openTurns = {
    /**
     * Settles as `work` does, whose signal aborts after `msMax`. `work` begins at once, so that
     * turns keep their order; it must await `confirm` before it does anything for the client.
     */
    async run<Result>(
      principal: Principal,
      client: AbortSignal,
      work: (guard: TurnGuard) => Promise<Result>,
      msMax = TURN_MS_MAX,
    ): Promise<Result> {
      const stop = new AbortController()
      const onLeave = () => stop.abort(client.reason)
      client.addEventListener('abort', onLeave, { once: true })
      if (client.aborted) onLeave()
      const tooLong = () => stop.abort(appError('turn_too_long'))
      const cancel = clock.after(msMax, tooLong)
      const turn = { principal, stop }
      add(turn)
      try {
        // A later revocation calls `recheck` itself; this finds an earlier one.
        return await work(guardOf(stop.signal, recheck(turn)))
      } catch (error) {
        // Tools of the round that failed may still be running.
        stop.abort(error)
        throw error
      } finally {
        remove(turn)
        cancel()
        client.removeEventListener('abort', onLeave)
      }
    },

    /**
     * The stream that `begin` opens; it ends when the credential is revoked or the client leaves.
     */
    async stream<Piece>(
      principal: Principal,
      client: AbortSignal,
      begin: (signal: AbortSignal) => Promise<AsyncGenerator<Piece>>,
      msMax: number,
    ): Promise<AsyncGenerator<Piece>> {
      const begun = Promise.withResolvers<AsyncGenerator<Piece>>()
      const ended = Promise.withResolvers<void>()
      const work = async ({ signal, confirm }: TurnGuard) => {
        await confirm()
        signal.addEventListener('abort', () => ended.resolve(), { once: true })
        begun.resolve(await begin(signal))
        await ended.promise
      }
      openTurns.run(principal, client, work, msMax).catch(begun.reject)
      return untilEnd(await begun.promise, ended.resolve)
    },

    /** Turns of the tenant that are open here. */
    count: (tenantId: string): number => byTenant.get(tenantId)?.size ?? 0,

    /** To be called after keys of the tenant were revoked, or its people disabled. */
    async recheck(tenantId: string): Promise<void> {
      await Promise.all([...(byTenant.get(tenantId) ?? [])].map(recheck))
    },
  }
  return openTurns
}

/** Whether the share, the person or the key that opened a turn has not been revoked. */
async function stillValid(
  { clock, keys, tenants, shares }: OpenTurnsOptions,
  principal: Principal,
): Promise<boolean> {
  const { tenantId, userId, shareHash } = principal
  if (shareHash !== undefined) return shares.isOpen(tenantId, shareHash, clock.iso())
  if (userId !== null) return (await tenants.roleIn(tenantId, userId)) !== null
  return keys.stillValid(principal)
}

async function* untilEnd<Piece>(pieces: AsyncGenerator<Piece>, onEnd: () => void) {
  try {
    yield* pieces
  } finally {
    onEnd()
  }
}

const guardOf = (signal: AbortSignal, checked: Promise<void>): TurnGuard => ({
  signal,
  async confirm(channel) {
    await checked
    signal.throwIfAborted()
    if (channel && !(await channel.isCurrent())) throw appError('model_channel_changed')
  },
})

export type OpenTurns = ReturnType<typeof createOpenTurns>
