/** Digits of a stamp: microseconds since the epoch have 16 digits until the year 2286. */
export const STAMP_DIGITS = 16

/**
 * Microseconds of a clock that all processes of a machine share, finer than `Date.now`. Processes
 * differ by about 10 microseconds (measured).
 */
export const nowMicros = (): number => (performance.timeOrigin + performance.now()) * 1_000

/** Reads a stamp from bytes without creating a string. */
export function readStamp(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let i = at; i < at + STAMP_DIGITS; i++) value = value * 10 + ((bytes[i] ?? 48) - 48)
  return value
}
