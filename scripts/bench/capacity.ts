import { readFileSync } from 'node:fs'
import { holdStreams, loadStreams } from './load-sse.ts'
import { residentKb } from './process-usage.ts'
import type { Product, Upstream } from './programs.ts'
import type { Row } from './report.ts'

const STREAMS = 9_000
/** Each stream has one connection to the client and one to the upstream. */
const FILES_MIN = STREAMS * 2 + 500
const SETTLE_MS = 2_000
const TOKENS = { tokens: 1_000, delayMs: 60_000 }

/** Open file limit of this process and its children; infinite where it cannot be read. */
function filesMax(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const soft = limits.match(/^Max open files +(\d+)/m)?.[1]
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Opens as many idle streams as one machine should hold; one round, because it hardly varies. */
export async function benchCapacity(upstream: Upstream, prepared: Product): Promise<Row[]> {
  if (filesMax() < FILES_MIN) {
    const limit = `ulimit -n is ${filesMax()} and should be ${FILES_MIN}`
    process.stderr.write(`capacity is not measured: ${limit}\n`)
    return []
  }
  await using product = await prepared.start()
  await upstream.plan({ tokens: 1, delayMs: 0 })
  await loadStreams(product.turns, { streams: 8, requests: 80, tokens: 1 })
  await Bun.sleep(SETTLE_MS)
  const idleKb = residentKb(product.pid)
  await upstream.plan(TOKENS)
  const seen = await holdStreams(product.turns, STREAMS, async (open) => {
    await Bun.sleep(SETTLE_MS)
    const begin = performance.now()
    await (await fetch(`${product.url}/healthz`)).arrayBuffer()
    const healthMs = performance.now() - begin
    return { healthMs, residentKb: residentKb(product.pid), open: open() }
  })
  const row = (measure: string, unit: string, value: number, target: Row['target']): Row => ({
    measure,
    unit,
    product: [value],
    reference: { name: '', values: [] },
    target,
    absolute: true,
  })
  return [
    row('streams open at once on one box', 'streams', seen.open, { atLeast: STREAMS }),
    row(`memory with ${STREAMS} open`, 'MB', seen.residentKb / 1_024, { atMost: 520 }),
    row(`memory of each of the ${STREAMS}`, 'KB', (seen.residentKb - idleKb) / STREAMS, null),
    row(`GET /healthz beside ${STREAMS} open`, 'ms', seen.healthMs, null),
  ]
}
