import { loadStreams, type StreamLoad } from './load-sse.ts'
import { cpuSeconds } from './process-usage.ts'
import { chatTurns, type Program, type Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { alternate } from './rounds.ts'

/** More tokens a second than a core can relay. */
const FLOOD: StreamLoad = { streams: 400, seconds: 3, tokens: 100, rampMs: 200 }
const FLOOD_DELAY_MS = 2
const SPOKEN: StreamLoad = { streams: 50, seconds: 2, tokens: 50 }
const SPOKEN_DELAY_MS = 2
const SHORT: StreamLoad = { streams: 50, seconds: 2, tokens: 1 }

async function measure(program: Program, load: StreamLoad) {
  const before = cpuSeconds(program.pid)
  const { tokens, streams, seconds } = await loadStreams(program.turns, load)
  const cpu = cpuSeconds(program.pid) - before
  return {
    tokensPerCore: tokens / cpu,
    turnsPerSecond: streams / seconds,
    cpuMicrosPerTurn: (cpu * 1e6) / streams,
  }
}

export interface ThroughputPrograms {
  readonly upstream: Upstream
  readonly product: Program
  readonly raw: Program
  readonly full: Program
  readonly durable: Program
}

/** Relayed tokens a second and core under overload. */
export async function measureTokens(
  { upstream, product, raw }: ThroughputPrograms,
  rounds: number,
): Promise<Row[]> {
  await upstream.plan({ tokens: FLOOD.tokens, delayMs: FLOOD_DELAY_MS })
  const results = await alternate(rounds, {
    raw: () => measure(raw, FLOOD),
    product: () => measure(product, FLOOD),
  })
  const tokens = (name: keyof typeof results) =>
    results[name].map(({ tokensPerCore }) => tokensPerCore)
  return [
    {
      measure: 'relayed tokens per second and core',
      unit: '1/s',
      product: tokens('product'),
      reference: { name: 'relay-raw', values: tokens('raw') },
      target: { atLeast: 0.85 },
    },
  ]
}

/** Turns of one token: the cost of a request without its tokens. */
export async function measureTurns(
  { upstream, product, full, durable }: ThroughputPrograms,
  rounds: number,
): Promise<Row[]> {
  await upstream.plan({ tokens: SHORT.tokens, delayMs: 0 })
  const results = await alternate(rounds, {
    full: () => measure(full, SHORT),
    durable: () => measure(durable, SHORT),
    product: () => measure(product, SHORT),
  })
  const rate = (name: keyof typeof results) =>
    results[name].map(({ turnsPerSecond }) => turnsPerSecond)
  const cpu = (name: keyof typeof results) =>
    results[name].map(({ cpuMicrosPerTurn }) => cpuMicrosPerTurn)
  return [
    {
      measure: 'one-token turns',
      unit: '1/s',
      product: rate('product'),
      reference: { name: 'relay-full', values: rate('full') },
      target: { atLeast: 0.55 },
    },
    {
      measure: 'durable one-token turns, 50 sessions',
      unit: '1/s',
      product: rate('product'),
      reference: { name: 'a commit each', values: rate('durable') },
      target: { atLeast: 3 },
    },
    {
      measure: 'processor time of a one-token turn',
      unit: 'us',
      product: cpu('product'),
      reference: { name: 'relay-full', values: cpu('full') },
      target: { atMost: 2 },
    },
  ]
}

/** The same turns, in sessions of their own, by /v1/chat/completions and by /v1/agent. */
export async function measureDoors(
  { upstream, product }: Pick<ThroughputPrograms, 'upstream' | 'product'>,
  rounds: number,
): Promise<Row[]> {
  await upstream.plan({ tokens: SPOKEN.tokens, delayMs: SPOKEN_DELAY_MS })
  const chat = { ...product, turns: chatTurns(product.url, product.headers) }
  const results = await alternate(rounds, {
    agent: () => measure(product, SPOKEN),
    chat: () => measure(chat, SPOKEN),
  })
  const cpu = (name: keyof typeof results) =>
    results[name].map(({ cpuMicrosPerTurn }) => cpuMicrosPerTurn)
  return [
    {
      measure: 'processor time of a chat completion of 50 tokens',
      unit: 'us',
      product: cpu('chat'),
      reference: { name: '/v1/agent', values: cpu('agent') },
      target: { atMost: 1.15 },
    },
  ]
}
