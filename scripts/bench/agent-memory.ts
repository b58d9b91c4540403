import { holdStreams, loadStreams } from './load-sse.ts'
import { residentKb } from './process-usage.ts'
import type { Program, Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'

const STREAMS = 2_000
/** Two rounds are enough, because memory does not depend on the load of the machine. */
const ROUNDS_MAX = 2
const SETTLE_MS = 1_000

/** Memory of an open, idle stream, in a new process because processes rarely return memory. */
async function measure(upstream: Upstream, start: () => Promise<Program>): Promise<number> {
  await using program = await start()
  const target = program.turns
  await upstream.plan({ tokens: 1, delayMs: 0 })
  await loadStreams(target, { streams: 8, requests: 80, tokens: 1 })
  await Bun.sleep(SETTLE_MS)
  const before = residentKb(program.pid)
  await upstream.plan({ tokens: 1_000, delayMs: 60_000 })
  // Awaited here, because the program ends with this function.
  return await holdStreams(target, STREAMS, async () => {
    await Bun.sleep(SETTLE_MS)
    return (residentKb(program.pid) - before) / STREAMS
  })
}

export interface FreshPrograms {
  readonly product: () => Promise<Program>
  readonly raw: () => Promise<Program>
}

export async function measureMemory(
  upstream: Upstream,
  { product, raw }: FreshPrograms,
  rounds: number,
): Promise<Row[]> {
  const results = await alternate(Math.min(rounds, ROUNDS_MAX), {
    raw: () => measure(upstream, raw),
    product: () => measure(upstream, product),
  })
  return [
    {
      measure: `memory of an open stream, ${STREAMS} open`,
      unit: 'KB',
      product: results.product,
      reference: { name: 'relay-raw', values: results.raw },
      target: { atMost: 2.2 },
    },
  ]
}
