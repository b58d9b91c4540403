import type { Principal } from '../core/principal.ts'

/**
 * What is known of a request while it is handled, for the log row written after it. Metadata only:
 * nothing here can hold what was said.
 */
export interface RequestFacts {
  /** As in the answer's X-Request-Id. */
  readonly requestId: string
  /** Milliseconds on a clock that nobody sets. */
  readonly startedAt: number
  principal: Principal | null
  sessionId: string | null
  textChars: number | null
  channel: 'byo' | 'platform' | null
  errorClass: string | null
}

/** Facts by request; they go when the request does. */
export function createFacts(steady: () => number) {
  const known = new WeakMap<Request, RequestFacts>()
  return {
    begin(request: Request, requestId: string): void {
      known.set(request, {
        requestId,
        startedAt: steady(),
        principal: null,
        sessionId: null,
        textChars: null,
        channel: null,
        errorClass: null,
      })
    },
    of(request: Request): RequestFacts | undefined {
      return known.get(request)
    },
    /** Adds what a handler learned of the request. */
    note(request: Request, more: Partial<RequestFacts>): void {
      const facts = known.get(request)
      if (facts) Object.assign(facts, more)
    },
  }
}

export type Facts = ReturnType<typeof createFacts>
