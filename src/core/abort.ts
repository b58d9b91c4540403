/**
 * What `work` comes to, or the signal's reason as soon as it aborts. Most of what is waited for
 * cannot be called off, so an abort leaves it behind, and its failure afterwards is nobody's.
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
    // Whichever lost the race has nobody else to hear it.
    work.catch(() => {})
    aborted.catch(() => {})
  }
}

/** Resolves when `work` has settled, in whatever way, or as soon as the signal aborts. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  await orAborted(work, signal).catch(() => {})
}
