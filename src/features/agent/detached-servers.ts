import type { Clock } from '../../core/clock.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { Leases } from '../../storage/shared-state.ts'
import type { DetachedStore } from './detached-store.ts'

export interface ServersOptions {
  readonly store: Pick<DetachedStore, 'interrupt'>
  readonly clock: Pick<Clock, 'now'>
  readonly jobs: Pick<Jobs, 'run'>
  readonly leases: Pick<Leases, 'hold' | 'held' | 'heldByLiving'>
  /** The id of this process. */
  readonly server: string
}

const LEASE = 'talks '

/** Which servers are there, so that the turns of others become interrupted. */
export function createServers({ store, clock, jobs, leases, server }: ServersOptions) {
  let living: Promise<void> | null = null

  /** Tells other servers that this one is there: without it they would interrupt its turns. */
  function live(): Promise<void> {
    living ??= new Promise((resolve, reject) => {
      const lease = `${LEASE}${server}`
      jobs.run('keep detached turns', async (signal) => {
        await leases
          .hold(lease, signal, async (held) => {
            resolve()
            if (held.aborted) return
            await new Promise((end) => held.addEventListener('abort', end, { once: true }))
          })
          .catch(reject)
        living = null
      })
    })
    return living
  }

  const among = (names: readonly string[]) => [
    server,
    ...names.map((name) => name.slice(LEASE.length)),
  ]

  /** Turns of servers that are gone become interrupted. */
  async function settle(): Promise<void> {
    await store.interrupt(among(await leases.held(LEASE)), clock.now())
  }

  /**
   * Turns of silent servers in this session were given up, so that the next one runs: they become
   * interrupted before their leases end, because the next one drops what it finds interrupted.
   */
  async function giveUp(tenantId: string, sessionId: string): Promise<void> {
    const alive = among(await leases.heldByLiving(LEASE))
    await store.interrupt(alive, clock.now(), { tenantId, sessionId })
  }

  return { live, settle, giveUp }
}
