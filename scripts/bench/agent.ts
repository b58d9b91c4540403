import { type Cost, cost } from './cost.ts'
import { holdStreams, loadStreams, type StreamLoad, type StreamResult } from './load-sse.ts'
import { residentKb } from './process-usage.ts'
import { direct, type Product, type Program, startReference, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { type Column, measureCase } from './rounds.ts'
import { quantile } from './stats.ts'

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
    rows.push(...(await measureThroughput(programs, rounds)))
  }
  rows.push(...(await measureMemory(upstream, prepared, rounds)))
  return rows
}

interface Programs {
  readonly upstream: Upstream
  readonly product: Program
  readonly raw: Program
  readonly full: Program
  readonly durable: Program
}

/** Token rates far below saturation, so that latency and not throughput is measured. */
const STEPS: readonly (StreamLoad & { readonly delayMs: number })[] = [
  { streams: 1, requests: 50, tokens: 4, delayMs: 4 },
  { streams: 50, requests: 600, tokens: 20, rampMs: 200, delayMs: 10 },
  { streams: 500, requests: 1_500, tokens: 15, rampMs: 1_000, delayMs: 50 },
]

/** What each program adds to the upstream's own time: to the first token, and to each token. */
async function measureLatency(programs: Programs, rounds: number): Promise<Row[]> {
  const { upstream, product, raw, full } = programs
  const rows: Row[] = []
  for (const { delayMs, ...step } of STEPS) {
    await upstream.plan({ tokens: step.tokens, delayMs })
    const load = { ...step, stamped: true }
    const streams = `${step.streams} ${step.streams === 1 ? 'stream' : 'streams'}`
    const first = (share: number, atMost: number): Column<Probe, StreamResult> => ({
      measure: `added to first token p${share * 100}, ${streams}`,
      unit: 'ms',
      product: 'product',
      reference: ['full', 'relay-full'],
      floor: 'direct',
      of: ({ firstMs }) => quantile(firstMs, share),
      target: step.streams === 1 ? null : { atMost },
    })
    const later: Column<Probe, StreamResult> = {
      ...first(0.5, 1.15),
      measure: `added to a token p50, ${streams}`,
      reference: ['raw', 'relay-raw'],
      of: ({ ageMs }) => quantile(ageMs, 0.5),
    }
    const columns =
      step.streams === 1 ? [first(0.5, 1.5)] : [first(0.5, 1.5), first(0.99, 2), later]
    const probes = {
      direct: () => loadStreams(direct(upstream), load),
      raw: () => loadStreams(raw.turns, load),
      full: () => loadStreams(full.turns, load),
      product: () => loadStreams(product.turns, load),
    }
    rows.push(...(await measureCase<Probe, StreamResult>(rounds, { probes, rows: columns })))
  }
  return rows
}
type Probe = 'direct' | 'raw' | 'full' | 'product'

/** More tokens a second than a core can relay. */
const FLOOD: StreamLoad = { streams: 400, seconds: 3, tokens: 100, rampMs: 200 }
/** The cost of a request without its tokens. */
const SHORT: StreamLoad = { streams: 50, seconds: 2, tokens: 1 }

/** Tokens under overload, and turns of one token. */
async function measureThroughput(programs: Programs, rounds: number): Promise<Row[]> {
  const { upstream, product, raw, full, durable } = programs
  const turnsPerSecond = { unit: '1/s', of: (result: Cost) => result.turnsPerSecond }
  const cpuMicros = { unit: 'us', of: (result: Cost) => result.cpuMicros }
  await upstream.plan({ tokens: FLOOD.tokens, delayMs: 2 })
  const flood = await measureCase(rounds, {
    probes: { raw: () => cost(raw, FLOOD), product: () => cost(product, FLOOD) },
    rows: [
      {
        measure: 'relayed tokens per second and core',
        unit: '1/s',
        product: 'product',
        reference: ['raw', 'relay-raw'],
        of: ({ tokensPerCore }) => tokensPerCore,
        target: { atLeast: 0.85 },
      },
    ],
  })
  await upstream.plan({ tokens: SHORT.tokens, delayMs: 0 })
  const short = await measureCase(rounds, {
    probes: {
      full: () => cost(full, SHORT),
      durable: () => cost(durable, SHORT),
      product: () => cost(product, SHORT),
    },
    rows: [
      {
        measure: 'one-token turns',
        product: 'product',
        reference: ['full', 'relay-full'],
        target: { atLeast: 0.55 },
        ...turnsPerSecond,
      },
      {
        measure: 'durable one-token turns, 50 sessions',
        product: 'product',
        reference: ['durable', 'a commit each'],
        target: { atLeast: 3 },
        ...turnsPerSecond,
      },
      {
        measure: 'processor time of a one-token turn',
        product: 'product',
        reference: ['full', 'relay-full'],
        target: { atMost: 2 },
        ...cpuMicros,
      },
    ],
  })
  return [...flood, ...short]
}

const HELD = 2_000
/** Two rounds are enough, because memory does not depend on the load of the machine. */
const MEMORY_ROUNDS_MAX = 2
const SETTLE_MS = 1_000

/** Memory of an open, idle stream. */
function measureMemory(upstream: Upstream, prepared: Product, rounds: number): Promise<Row[]> {
  /** In a new process, because processes rarely return memory. */
  async function held(start: () => Promise<Program>): Promise<number> {
    await using program = await start()
    await upstream.plan({ tokens: 1, delayMs: 0 })
    await loadStreams(program.turns, { streams: 8, requests: 80, tokens: 1 })
    await Bun.sleep(SETTLE_MS)
    const before = residentKb(program.pid)
    await upstream.plan({ tokens: 1_000, delayMs: 60_000 })
    // Awaited here, because the program ends with this function.
    return await holdStreams(program.turns, HELD, async () => {
      await Bun.sleep(SETTLE_MS)
      return (residentKb(program.pid) - before) / HELD
    })
  }
  return measureCase(Math.min(rounds, MEMORY_ROUNDS_MAX), {
    probes: {
      raw: () => held(() => startReference('raw', upstream.url)),
      product: () => held(prepared.start),
    },
    rows: [
      {
        measure: `memory of an open stream, ${HELD} open`,
        unit: 'KB',
        product: 'product',
        reference: ['raw', 'relay-raw'],
        of: (kilobytes) => kilobytes,
        target: { atMost: 2.2 },
      },
    ],
  })
}
