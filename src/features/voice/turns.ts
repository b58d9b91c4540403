import { HEARINGS_PER_TENANT_MAX, SPEECHES_PER_TENANT_MAX } from '../../core/limits/machine.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { TtsRequest } from './model.ts'
import type { Voice } from './service.ts'

/**
 * Speaking and listening as `Voice` does it, some at a time for each tenant; the others of a tenant
 * wait. Much of it runs on this machine, a program for each voice, which all tenants share.
 */
export function createVoiceTurns(voice: Voice) {
  const speeches = createSemaphore({ perKey: SPEECHES_PER_TENANT_MAX }).run
  const hearings = createSemaphore({ perKey: HEARINGS_PER_TENANT_MAX }).run

  return {
    speak: (tenantId: string, request: TtsRequest, signal: AbortSignal) =>
      speeches(tenantId, () => voice.speak(request, signal), signal),

    transcribe: (tenantId: string, bytes: Uint8Array, signal: AbortSignal) =>
      hearings(tenantId, () => voice.transcribe(bytes, signal), signal),

    /** Keeps its place until the sound has ended or the signal aborts. */
    stream(tenantId: string, request: TtsRequest, signal: AbortSignal) {
      const begun = Promise.withResolvers<AsyncGenerator<Uint8Array>>()
      const over = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => over.resolve(), { once: true })
      const work = async () => {
        begun.resolve(reporting(await voice.stream(request, signal), over.resolve))
        await over.promise
      }
      speeches(tenantId, work, signal).catch(begun.reject)
      return begun.promise
    },
  }
}

export type VoiceTurns = ReturnType<typeof createVoiceTurns>

async function* reporting(
  pcm: AsyncGenerator<Uint8Array>,
  onEnd: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* pcm
  } finally {
    onEnd()
  }
}
