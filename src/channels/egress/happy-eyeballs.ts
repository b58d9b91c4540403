import type { Clock } from '../../core/clock.ts'
import type { ResolvedAddress } from './url-guard.ts'

/** The next address is tried when the one before failed, or beside it after this (RFC 8305, 5). */
const STAGGER_MS = 250
const REACH_MS_MAX = 10_000

/** Opens a connection and closes it; rejects when nobody answers there, or with the signal. */
export type Knock = (to: ResolvedAddress, port: number, signal: AbortSignal) => Promise<void>

export interface ReachOptions {
  readonly clock: Pick<Clock, 'after' | 'sleep'>
  readonly knock: Knock
}

/**
 * Finds which address of a host answers, as RFC 8305 (Happy Eyeballs) describes it: many a host
 * has an IPv6 address that many a network cannot reach. A request itself cannot be sent to several.
 * Rejects when none answers, and with the signal's reason.
 */
export function createReach({ clock, knock }: ReachOptions) {
  return async (
    addresses: readonly ResolvedAddress[],
    port: number,
    signal?: AbortSignal | null,
  ): Promise<ResolvedAddress> => {
    const found = new AbortController()
    const over = AbortSignal.any(signal ? [found.signal, signal] : [found.signal])
    const stop = clock.after(REACH_MS_MAX, () => found.abort(new Error('no address answers')))
    let failed = Promise.resolve()
    const tries = alternating(addresses).map((address, i) => {
      const turn = i === 0 ? failed : Promise.race([failed, clock.sleep(i * STAGGER_MS, over)])
      const answered = turn.then(() => {
        over.throwIfAborted()
        return knock(address, port, over)
      })
      failed = new Promise((resolve) => answered.catch(() => resolve()))
      return answered.then(() => address)
    })
    try {
      return await Promise.any(tries)
    } catch (cause) {
      signal?.throwIfAborted()
      throw new Error('no address of the host answers', { cause })
    } finally {
      stop()
      found.abort()
    }
  }
}

export type Reach = ReturnType<typeof createReach>

/** The families by turns, each in the resolver's order (RFC 8305, section 4). */
function alternating(addresses: readonly ResolvedAddress[]): ResolvedAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family)
  const other = addresses.filter(({ family }) => family !== addresses[0]?.family)
  return addresses
    .flatMap((_, i) => [first[i], other[i]])
    .filter((address) => address !== undefined)
}

export const knock: Knock = async ({ address, family }, port, signal) => {
  const { connect } = await import('node:net')
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, family, port })
    const leave = () => socket.destroy()
    signal.addEventListener('abort', leave, { once: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      resolve()
      socket.destroy()
    })
    socket.once('close', () => {
      signal.removeEventListener('abort', leave)
      reject(new Error('closed'))
    })
  })
}
