/**
 * Settles like `work`, or rejects with the abort reason as soon as `signal` aborts. `work` keeps
 * running; its later rejection is swallowed.
 */
export async function orAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
    // Mark the loser as handled, or it becomes an unhandled rejection.
    work.catch(() => {})
    aborted.catch(() => {})
  }
}

/** Resolves when `work` has settled, in whatever way, or as soon as the signal aborts. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  await orAborted(work, signal).catch(() => {})
}
