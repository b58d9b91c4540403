import { appError } from './errors.ts'

/**
 * A limit of what a key makes: it may not be above the limit `own` of that key; 0 is no limit. One
 * that is not asked for is `fallback`, or the key's own where that is lower. Throws
 * `above_own_limit`.
 */
export function withinOwn(
  field: string,
  own: number,
  wanted: number | undefined,
  fallback: number,
): number {
  if (own === 0) return wanted ?? fallback
  if (wanted === undefined) return fallback === 0 ? own : Math.min(fallback, own)
  if (wanted === 0 || wanted > own) throw appError('above_own_limit', { field, max: own })
  return wanted
}
