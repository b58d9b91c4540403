/**
 * What the server counts for operators. Labels are route patterns, status codes and fixed words, so
 * that the number of series is bounded whatever clients send.
 */
export interface Meters {
  /** An answered request; `seconds` is the time to headers ready. */
  request(method: string, route: string, status: number, seconds: number): void
  /** A model or service upstream did not do its work; `upstream` is such as `platform` or `tts`. */
  upstreamFailed(upstream: string, reason: string): void
  /** A turn went on with the platform's channel in place of the tenant's. */
  fellBack(reason: string): void
}

/** For a server that nobody measures. */
export const NO_METERS: Meters = { request() {}, upstreamFailed() {}, fellBack() {} }
