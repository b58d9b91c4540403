import { measureLatency } from './agent-latency.ts'
import { measureMemory } from './agent-memory.ts'
import { measureDoors, measureTokens, measureTurns } from './agent-throughput.ts'
import { loadStreams } from './load-sse.ts'
import { type Product, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'

/** POST /v1/agent beside relays that do only the same work. */
export async function benchAgent(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  const rows: Row[] = []
  {
    await using product = await prepared.start()
    await using raw = await startReference('raw', upstream.url)
    await using full = await startReference('full', upstream.url)
    await using durable = await startReference('durable', upstream.url)
    const programs = { upstream, product, raw, full, durable }
    // A warm-up: the first requests include compilation and connecting.
    await upstream.plan({ tokens: 20, delayMs: 0 })
    for (const program of [product, raw, full, durable]) {
      await loadStreams(program.turns, { streams: 20, requests: 400, tokens: 20 })
    }
    rows.push(...(await measureLatency(programs, rounds)))
    rows.push(...(await measureTokens(programs, rounds)))
    rows.push(...(await measureTurns(programs, rounds)))
    rows.push(...(await measureDoors(programs, rounds)))
  }
  const raw = () => startReference('raw', upstream.url)
  const fresh = { product: prepared.start, raw }
  rows.push(...(await measureMemory(upstream, fresh, rounds)))
  return rows
}
