import { loadStreams, type StreamLoad, type StreamResult, type StreamTarget } from './load-sse.ts'
import { direct, type Program, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate, type Rounds } from './rounds.ts'
import { quantile } from './stats.ts'

interface Step {
  readonly load: StreamLoad
  readonly delayMs: number
  /** Targets of the ratio to `relay-full`, at the median and the 99th percentile. */
  readonly most: { readonly p50: number; readonly p99: number } | null
}

/** Token rates far below saturation, so that latency and not throughput is measured. */
const STEPS: readonly Step[] = [
  { load: { streams: 1, requests: 50, tokens: 4 }, delayMs: 4, most: null },
  {
    load: { streams: 50, requests: 600, tokens: 20, rampMs: 200 },
    delayMs: 10,
    most: { p50: 1.5, p99: 2 },
  },
  {
    load: { streams: 500, requests: 1_500, tokens: 15, rampMs: 1_000 },
    delayMs: 50,
    most: { p50: 1.5, p99: 2 },
  },
]

export interface LatencyPrograms {
  readonly upstream: Upstream
  readonly product: Program
  readonly raw: Program
  readonly full: Program
}

/** Added time to the first token, and added latency of each token, at 1, 50 and 500 streams. */
export async function measureLatency(programs: LatencyPrograms, rounds: number): Promise<Row[]> {
  const { upstream, product, raw, full } = programs
  const rows: Row[] = []
  for (const step of STEPS) {
    const load = { ...step.load, stamped: true }
    await upstream.plan({ tokens: load.tokens, delayMs: step.delayMs })
    const measure = (target: StreamTarget) => () => loadStreams(target, load)
    const results = await alternate(rounds, {
      direct: measure(direct(upstream)),
      raw: measure(raw.turns),
      full: measure(full.turns),
      product: measure(product.turns),
    })
    rows.push(...latencyRows(step, results))
  }
  return rows
}

type Measured = 'direct' | 'raw' | 'full' | 'product'

function latencyRows({ load, most }: Step, results: Rounds<Measured, StreamResult>): Row[] {
  /** The time that a program adds to the upstream's own time, round by round. */
  const added = (name: Measured, of: (result: StreamResult) => number) =>
    results[name].map((result, round) => {
      const floor = results.direct[round]
      return floor ? of(result) - of(floor) : Number.NaN
    })
  const row = (
    measure: string,
    reference: 'raw' | 'full',
    of: (result: StreamResult) => number,
    atMost: number | undefined,
  ): Row => ({
    measure: `${measure}, ${load.streams} ${load.streams === 1 ? 'stream' : 'streams'}`,
    unit: 'ms',
    product: added('product', of),
    reference: { name: `relay-${reference}`, values: added(reference, of) },
    target: atMost === undefined ? null : { atMost },
  })
  const p50 = ({ firstMs }: StreamResult) => quantile(firstMs, 0.5)
  const p99 = ({ firstMs }: StreamResult) => quantile(firstMs, 0.99)
  const median = row('added to first token p50', 'full', p50, most?.p50)
  if (!most) return [median]
  return [
    median,
    row('added to first token p99', 'full', p99, most.p99),
    row('added to a token p50', 'raw', ({ ageMs }) => quantile(ageMs, 0.5), 1.15),
  ]
}
