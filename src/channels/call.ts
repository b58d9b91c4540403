import type { Clock } from '../core/clock.ts'
import { ChannelFailure } from './failure.ts'

export type Call = ReturnType<typeof openCall>

/**
 * The life of one upstream request. Its `signal` goes to `fetch` and aborts when the caller aborts,
 * when the upstream is silent for too long, and when the call is closed. One timer serves the whole
 * stream: it looks at the last activity and re-arms itself, so a read costs no timer of its own.
 */
export function openCall(clock: Clock, timeoutMs: number, caller: AbortSignal) {
  caller.throwIfAborted()
  const controller = new AbortController()
  let limitMs = timeoutMs
  let waitingSince: number | null = clock.now()
  let gotBytes = false
  let silent = false
  let disarm = clock.after(limitMs, check)

  // Time that the consumer takes between two reads is not the upstream's silence.
  function check(): void {
    const idleMs = waitingSince === null ? 0 : Math.max(0, clock.now() - waitingSince)
    if (idleMs < limitMs) {
      disarm = clock.after(limitMs - idleMs, check)
      return
    }
    silent = true
    controller.abort()
  }

  const onAbort = () => controller.abort(caller.reason)
  caller.addEventListener('abort', onAbort, { once: true })

  /** What an error of `fetch` or of a read means: the caller's own reason, or a failure. */
  function explain(error: unknown): unknown {
    if (caller.aborted) return caller.reason
    if (error instanceof ChannelFailure) return error
    if (gotBytes) {
      const phrase = silent ? 'stream went silent' : 'connection broken'
      return new ChannelFailure('provider_error', phrase, { cause: error })
    }
    const phrase = silent ? 'timed out' : 'connection failed'
    return new ChannelFailure('retry_exhausted', phrase, { retryable: true, cause: error })
  }

  return {
    signal: controller.signal,
    /** The upstream is being waited for from now on. */
    waiting(): void {
      waitingSince = clock.now()
    },
    /** Bytes of the answer have come. */
    arrived(): void {
      waitingSince = null
      gotBytes = true
    },
    /** Whether the upstream was given up for its silence. */
    isSilent: () => silent,
    /** Lowers the silence limit for the rest of the stream. */
    hurry(ms: number): void {
      if (ms >= limitMs) return
      limitMs = ms
      disarm()
      disarm = clock.after(ms, check)
    },
    /** What an error of `fetch` or of a read means: the caller's own reason, or a failure. */
    explain,
    /** Throws the caller's reason when the caller has aborted. */
    throwIfAborted: () => caller.throwIfAborted(),
    /** Releases timer and listener. Ends the request, unless its body was read to the end. */
    close(complete = false): void {
      disarm()
      caller.removeEventListener('abort', onAbort)
      if (!complete) controller.abort()
    },
  }
}
