import type { EmbedKind } from '../ports/embedder.ts'

/** Texts that one message to the embedding process carries, and who waits for their vectors. */
export interface Job {
  readonly kind: EmbedKind
  readonly texts: readonly string[]
  readonly resolve: (vectors: Float32Array[]) => void
  readonly reject: (error: unknown) => void
}

/** Jobs in order of arrival, queries before passages. `onAdd` is told of each new one. */
export function createJobQueue(onAdd: () => void) {
  const queues: Record<EmbedKind, Job[]> = { query: [], passage: [] }

  return {
    next: (): Job | undefined => queues.query.shift() ?? queues.passage.shift(),

    /** Resolves when the job was done; rejects at once, and forgets it, when `signal` aborts. */
    async add(
      kind: EmbedKind,
      texts: readonly string[],
      signal: AbortSignal | undefined,
    ): Promise<Float32Array[]> {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<Float32Array[]>()
      const job: Job = { kind, texts, resolve, reject }
      const queue = queues[kind]
      const onAbort = () => {
        const at = queue.indexOf(job)
        if (at >= 0) queue.splice(at, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      queue.push(job)
      onAdd()
      try {
        return await promise
      } finally {
        signal?.removeEventListener('abort', onAbort)
      }
    },
  }
}
