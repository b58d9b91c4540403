import type { Clock } from '../../core/clock.ts'
import type { ResolvedAddress } from './url-guard.ts'

/** The next address is tried when the one before fails, at the latest after this (RFC 8305, 5). */
const STAGGER_MS = 250
const CONNECT_MS_MAX = 10_000

/** Opens a connection and closes it. Rejects when nobody answers there, or when aborted. */
export type ProbeConnect = (to: ResolvedAddress, port: number, signal: AbortSignal) => Promise<void>

export interface HappyEyeballsOptions {
  readonly clock: Pick<Clock, 'after' | 'sleep'>
  readonly probeConnect: ProbeConnect
}

/**
 * Chooses the address of a host that answers first (Happy Eyeballs, RFC 8305): many hosts have an
 * IPv6 address that many networks cannot reach. Connections are only tried, because a request must
 * not be sent twice. Rejects when no address answers, and with the signal's reason.
 */
export function createHappyEyeballs({ clock, probeConnect }: HappyEyeballsOptions) {
  return async (
    addresses: readonly ResolvedAddress[],
    port: number,
    signal?: AbortSignal | null,
  ): Promise<ResolvedAddress> => {
    const found = new AbortController()
    const over = AbortSignal.any(signal ? [found.signal, signal] : [found.signal])
    const stop = clock.after(CONNECT_MS_MAX, () => found.abort(new Error('no address answers')))
    let failed = Promise.resolve()
    const tries = alternating(addresses).map((address, i) => {
      const turn = i === 0 ? failed : Promise.race([failed, clock.sleep(i * STAGGER_MS, over)])
      const answered = turn.then(() => {
        over.throwIfAborted()
        return probeConnect(address, port, over)
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

export type HappyEyeballs = ReturnType<typeof createHappyEyeballs>

/** IPv4 and IPv6 in turn, each in the resolver's order (RFC 8305, section 4). */
function alternating(addresses: readonly ResolvedAddress[]): ResolvedAddress[] {
  const first = addresses.filter(({ family }) => family === addresses[0]?.family)
  const other = addresses.filter(({ family }) => family !== addresses[0]?.family)
  return addresses
    .flatMap((_, i) => [first[i], other[i]])
    .filter((address) => address !== undefined)
}

export const probeConnect: ProbeConnect = async ({ address, family }, port, signal) => {
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
