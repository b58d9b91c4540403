/** Lines of one kind in one window; what comes beyond is only counted. */
const LINES_MAX = 10
const WINDOW_MS = 60_000

/**
 * Keeps a fault that lasts from filling the disk: tenants and upstreams decide how often one
 * happens. Each call gives how many lines of the kind were left out since the last one that was
 * not, or null when this one is to be left out, too.
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
