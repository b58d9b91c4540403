import { orAborted } from './abort.ts'

interface Lane {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * At most `most` pieces of work at a time in each lane, in the order they came; lanes do not wait
 * for each other. A lane each keeps a tenant with many requests from standing in the way of others
 * in a queue that all share.
 */
export function createLanes(most: number) {
  const lanes = new Map<string, Lane>()

  function leave(name: string, lane: Lane): void {
    const next = lane.waiting.shift()
    if (next) next()
    else lane.running--
    if (lane.running === 0) lanes.delete(name)
  }

  /** Resolves with a place in the lane, which is to be left again. */
  async function enter(name: string, signal: AbortSignal | undefined): Promise<Lane> {
    const lane = lanes.get(name) ?? { running: 0, waiting: [] }
    lanes.set(name, lane)
    if (lane.running < most) {
      lane.running++
      return lane
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    lane.waiting.push(resolve)
    try {
      await (signal ? orAborted(promise, signal) : promise)
    } catch (error) {
      const at = lane.waiting.indexOf(resolve)
      // A place that was given in the same moment goes to the next one.
      if (at >= 0) lane.waiting.splice(at, 1)
      else leave(name, lane)
      throw error
    }
    return lane
  }

  /** Settles as `work` does; rejects with the signal's reason when it aborts before its turn. */
  return async function run<Result>(
    name: string,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const lane = await enter(name, signal)
    try {
      return await work()
    } finally {
      leave(name, lane)
    }
  }
}

export type Lanes = ReturnType<typeof createLanes>
