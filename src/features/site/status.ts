import type { Clock } from '../../core/clock.ts'

export type CheckState = 'ok' | 'off' | 'down'

/**
 * The result of a probe. `class` is one short public word such as `timeout`: never a key, an
 * address or an upstream's own text.
 */
export interface ProbeFinding {
  readonly state: CheckState
  readonly class: string
}

export interface Probe {
  readonly name: string
  /**
   * Checks the dependency itself, free of charge. When it throws, the class is `error`; null leaves
   * the check out of the report.
   */
  run(signal: AbortSignal): Promise<ProbeFinding | null>
}

export interface Check extends ProbeFinding {
  readonly name: string
  readonly latency_ms: number
}

export interface StatusReport {
  /** `down`: nothing works; `degraded`: a configured dependency does not answer. */
  readonly status: 'ok' | 'degraded' | 'down'
  readonly checks: readonly Check[]
}

export interface StatusOptions {
  readonly clock: Clock
  readonly probes: readonly Probe[]
  /** The probe of the dependency that everything needs. */
  readonly vital: string
  /** A value, such as the settings, whose change invalidates the cached report. */
  readonly basis?: () => unknown
}

interface Known {
  readonly at: number
  /** The value of `basis` at the time. */
  readonly by: unknown
  readonly report: Promise<StatusReport>
}

/** How long the report is cached. */
const CACHE_MS = 5_000
const PROBE_MS = 3_000

/** Reports the state of every dependency; the report is cached. */
export function createStatus({ clock, probes, vital, basis = () => null }: StatusOptions) {
  let known: Known | null = null

  async function check(probe: Probe): Promise<Check[]> {
    const start = clock.steady()
    const giveUp = new AbortController()
    const { promise: late, resolve } = Promise.withResolvers<ProbeFinding | null>()
    const cancel = clock.after(PROBE_MS, () => {
      giveUp.abort()
      resolve({ state: 'down', class: 'timeout' })
    })
    const asked = probe
      .run(giveUp.signal)
      .catch((): ProbeFinding => ({ state: 'down', class: 'error' }))
    const found = await Promise.race([asked, late])
    cancel()
    const latency_ms = Math.round(clock.steady() - start)
    return found ? [{ name: probe.name, state: found.state, class: found.class, latency_ms }] : []
  }

  async function ask(): Promise<StatusReport> {
    const checks = (await Promise.all(probes.map(check))).flat()
    const failed = checks.filter(({ state }) => state === 'down')
    const dead = failed.some(({ name }) => name === vital)
    return { status: dead ? 'down' : failed.length > 0 ? 'degraded' : 'ok', checks }
  }

  return {
    read(): Promise<StatusReport> {
      const now = clock.steady()
      const by = basis()
      if (!known || known.by !== by || now - known.at >= CACHE_MS) {
        known = { at: now, by, report: ask() }
      }
      return known.report
    },
  }
}

export type Status = ReturnType<typeof createStatus>
