import type { Principal } from '../core/principal.ts'

/**
 * Metadata of one request, for the rows and lines that are written after it. It never holds
 * anything that was said.
 */
export interface RequestContext {
  /** The answer's X-Request-Id. */
  readonly requestId: string
  /** Milliseconds on the steady clock. */
  readonly startedAt: number
  principal: Principal | null
  sessionId: string | null
  textChars: number | null
  channel: 'byo' | 'platform' | null
  errorClass: string | null
  /** What is learned after the headers; the log row waits for it. Never rejects. */
  later: Promise<Partial<RequestContext>> | null
}

/** Contexts by request. A context is collected with its request. */
export function createRequestContexts(steady: () => number) {
  const known = new WeakMap<Request, RequestContext>()
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
        later: null,
      })
    },
    of(request: Request): RequestContext | undefined {
      return known.get(request)
    },
    /** Adds what a handler learned of the request. */
    note(request: Request, more: Partial<RequestContext>): void {
      const context = known.get(request)
      if (context) Object.assign(context, more)
    },
    /** Adds what a handler learns only when its stream has begun. */
    noteLater(request: Request, later: Promise<Partial<RequestContext>>): void {
      const context = known.get(request)
      if (context) context.later = later
    },
  }
}

export type RequestContexts = ReturnType<typeof createRequestContexts>
