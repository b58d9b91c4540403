/** Lines of one kind that are written in one window; further ones are only counted. */
const LINES_MAX = 10
const WINDOW_MS = 60_000

/**
 * Keeps a lasting fault from filling the disk, because tenants and upstreams decide how often it
 * happens. Each call returns how many lines of the kind were dropped since the last written one, or
 * null when this line is to be dropped as well.
 */
export function createThrottle(now: () => Date) {
  const kinds = new Map<string, { since: number; lines: number; leftOut: number }>()

  return (kind: string): number | null => {
    const at = now().getTime()
    const known = kinds.get(kind)
    const age = known ? at - known.since : -1
    if (!known || age < 0 || age >= WINDOW_MS) {
      kinds.set(kind, { since: at, lines: 1, leftOut: 0 })
      return known?.leftOut ?? 0
    }
    if (known.lines < LINES_MAX) {
      known.lines++
      return 0
    }
    known.leftOut++
    return null
  }
}
