/**
 * A response body that pulls: a client that reads slowly slows the upstream down, and one that
 * leaves ends it. A generator that fails has told so already; to the client the sound just ends,
 * since an error here would reset the connection.
 */
export function pcmBody(
  pcm: AsyncGenerator<Uint8Array>,
  onLeave: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pcm.next().catch(() => null)
      if (next === null || next.done) controller.close()
      else controller.enqueue(next.value)
    },
    cancel: onLeave,
  })
}
