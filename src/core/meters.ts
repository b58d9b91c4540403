/**
 * What the server counts for operators. Labels are route patterns, status codes and fixed words, so
 * that the number of series is bounded whatever clients send.
 */
export interface Meters {
  /** An answered request; `seconds` is the time to headers ready. */
  request(method: string, route: string, status: number, seconds: number): void
  /** A call to an upstream failed; `upstream` is for example `platform` or `tts`. */
  upstreamFailed(upstream: string, reason: string): void
  /** A turn fell back from the tenant's channel to the platform's. */
  fellBack(reason: string): void
  /** The work on a source ended: `ready`, `retried` or the class of its failure. */
  sourceEnded(outcome: string, seconds: number): void
  /** A run ended, with this status. */
  runEnded(status: string): void
  /** A try ended: `done`, `retried` or `failed`; or `dropped`, because too many wait. */
  webhookDelivered(state: string): void
  /** A database that is reached over the network answered a question, or did not. */
  databaseAsked(seconds: number, failed: boolean): void
  /** What a turn asked its person was answered, or its time was over: `decline`. */
  asked(action: string): void
  /** An error that nothing awaited, which the server has outlived. */
  unexpectedFault(): void
}

/** Counts nothing. */
export const NO_METERS: Meters = {
  request() {},
  upstreamFailed() {},
  fellBack() {},
  sourceEnded() {},
  runEnded() {},
  webhookDelivered() {},
  databaseAsked() {},
  asked() {},
  unexpectedFault() {},
}
