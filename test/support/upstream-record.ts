import type { Received } from './upstream-exchange.ts'

/** Records requests and clients that left early, with promises to wait for both. */
export function createRecord() {
  const requests: Received[] = []
  const untaken: Received[] = []
  const waiting: { path: string | null; resolve: (request: Received) => void }[] = []
  const abortWaiters: { count: number; resolve: () => void }[] = []
  let aborts = 0

  return {
    /** Every request so far, oldest first. */
    requests,

    add(request: Received): void {
      requests.push(request)
      const at = waiting.findIndex(({ path }) => path === null || path === request.path)
      if (at < 0) untaken.push(request)
      else waiting.splice(at, 1)[0]?.resolve(request)
    },

    addAbort(): void {
      aborts++
      for (const waiter of abortWaiters.filter(({ count }) => aborts >= count)) waiter.resolve()
    },

    reset(): void {
      requests.length = 0
      untaken.length = 0
      // Who still waits is of a test that has ended, and would take the request of the next one.
      waiting.length = 0
      aborts = 0
    },

    /** Requests whose client left before the answer was complete. */
    aborts: () => aborts,

    /** The oldest request that no call has returned; waits for the next one. */
    next(path: string | null = null): Promise<Received> {
      const at = untaken.findIndex((request) => path === null || request.path === path)
      const [taken] = at < 0 ? [] : untaken.splice(at, 1)
      if (taken) return Promise.resolve(taken)
      return new Promise((resolve) => waiting.push({ path, resolve }))
    },

    /** Resolves when clients have left at least `count` unfinished answers. */
    aborted(count = 1): Promise<void> {
      if (aborts >= count) return Promise.resolve()
      return new Promise((resolve) => abortWaiters.push({ count, resolve }))
    },
  }
}
