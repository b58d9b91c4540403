import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { TURN_MS_MAX } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import type { Channel } from './model-loop.ts'

export interface OpenTurnsOptions {
  readonly clock: Pick<Clock, 'after'>
  /** Whether the credential of a turn has not been revoked. */
  readonly stillValid: (principal: Principal) => Promise<boolean>
}

/** What a turn works under. */
export interface TurnGuard {
  /** Aborts when the client leaves, and with an error when the turn may not go on. */
  readonly signal: AbortSignal
  /**
   * Throws when the credential was revoked, or when `channel` is no longer configured: nothing new
   * may reach it, though an answer that it has begun may end.
   */
  confirm(channel?: Channel): Promise<void>
}

interface WatchedTurn extends TurnGuard {
  /** Ends the turn when its credential was revoked. */
  recheck(): Promise<void>
}

/**
 * The turns that run, or wait for others of their session. A turn ends as soon as the credential
 * that opened it is revoked, and after `TURN_MS_MAX` in any case: an upstream that sends a comment
 * now and then could hold it for ever.
 */
export function createOpenTurns({ clock, stillValid }: OpenTurnsOptions) {
  const byTenant = new Map<string, Set<WatchedTurn>>()

  function watch(principal: Principal, stop: AbortController): WatchedTurn {
    async function confirm(channel?: Channel): Promise<void> {
      if (!(await stillValid(principal))) throw appError('invalid_key')
      if (channel && !(await channel.isCurrent())) throw appError('model_channel_changed')
    }
    return {
      signal: stop.signal,
      confirm,
      recheck: () => confirm().catch((error: unknown) => stop.abort(error)),
    }
  }

  function add(tenantId: string, turn: WatchedTurn): () => void {
    const turns = byTenant.get(tenantId) ?? new Set()
    byTenant.set(tenantId, turns.add(turn))
    return () => {
      turns.delete(turn)
      if (turns.size === 0) byTenant.delete(tenantId)
    }
  }

  return {
    /** Settles as `work` does. */
    async run<Result>(
      principal: Principal,
      client: AbortSignal,
      work: (guard: TurnGuard) => Promise<Result>,
    ): Promise<Result> {
      const stop = new AbortController()
      const onLeave = () => stop.abort(client.reason)
      client.addEventListener('abort', onLeave, { once: true })
      if (client.aborted) onLeave()
      const tooLong = () => stop.abort(appError('turn_too_long'))
      const cancel = clock.after(TURN_MS_MAX, tooLong)
      const turn = watch(principal, stop)
      const remove = add(principal.tenantId, turn)
      try {
        return await work(turn)
      } catch (error) {
        // Tools of the round that failed may still be at work.
        stop.abort(error)
        throw error
      } finally {
        remove()
        cancel()
        client.removeEventListener('abort', onLeave)
      }
    },

    /** To be called after keys of the tenant were revoked. */
    async recheck(tenantId: string): Promise<void> {
      await Promise.all([...(byTenant.get(tenantId) ?? [])].map((turn) => turn.recheck()))
    },
  }
}

export type OpenTurns = ReturnType<typeof createOpenTurns>
