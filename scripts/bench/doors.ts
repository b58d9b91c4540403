import { type Cost, cost } from './cost.ts'
import { loadStreams, type StreamLoad, type StreamTarget } from './load-sse.ts'
import type { Product, Program, Upstream } from './programs.ts'
import type { Row } from './report.ts'
import { measureCase } from './rounds.ts'

const HI = [{ role: 'user', content: 'hello' }]
const session = (worker: number) => ({ 'x-moonbase-session': `s${worker}` })

type Headers = StreamTarget['headers']

/** The turns of POST /v1/agent through other doors, also in a session for each worker. */
const DOORS = {
  chat: (url: string, headers: Headers): StreamTarget => ({
    url: `${url}/v1/chat/completions`,
    headers,
    format: 'openai',
    body: (worker) =>
      JSON.stringify({ messages: HI, session_id: `s${worker}`, kb: false, stream: true }),
  }),
  messages: (url: string, headers: Headers): StreamTarget => ({
    url: `${url}/v1/messages`,
    headers: { ...headers, 'x-moonbase-kb': 'false' },
    ownHeaders: session,
    format: 'anthropic',
    body: () => JSON.stringify({ messages: HI, max_tokens: 1_000, stream: true }),
  }),
  ollama: (url: string, headers: Headers): StreamTarget => ({
    url: `${url}/ollama/api/chat`,
    headers: { ...headers, 'x-moonbase-kb': 'false' },
    ownHeaders: session,
    format: 'ollama',
    body: () => JSON.stringify({ model: 'moonbase:latest', messages: HI }),
  }),
} as const

const NAMES = {
  chat: 'a chat completion',
  messages: 'a message of /v1/messages',
  ollama: 'a chat of Ollama',
} as const

const TOKENS = 50
const LOADS: readonly (StreamLoad & { readonly delayMs: number })[] = [
  { streams: 1, requests: 1_000, tokens: TOKENS, delayMs: 0 },
  { streams: 50, requests: 4_000, tokens: TOKENS, delayMs: 2 },
]

/** What the other doors add to the processor time of a turn. */
export async function benchDoors(
  upstream: Upstream,
  prepared: Product,
  rounds: number,
): Promise<Row[]> {
  await using product = await prepared.start()
  const { pid, url, headers } = product
  const through = (door: keyof typeof DOORS) => ({ pid, turns: DOORS[door](url, headers) })
  const programs = {
    agent: product,
    chat: through('chat'),
    messages: through('messages'),
    ollama: through('ollama'),
  }
  // A warm-up: the first requests include compilation and connecting.
  await upstream.plan({ tokens: TOKENS, delayMs: 0 })
  for (const { turns } of Object.values(programs)) {
    await loadStreams(turns, { streams: 20, requests: 400, tokens: TOKENS })
  }
  const rows: Row[] = []
  for (const { delayMs, ...load } of LOADS) {
    await upstream.plan({ tokens: TOKENS, delayMs })
    rows.push(...(await measureLoad(programs, load, rounds)))
  }
  return rows
}

type Side = Pick<Program, 'pid' | 'turns'>
type Sides = Readonly<Record<keyof typeof DOORS | 'agent', Side>>

function measureLoad(sides: Sides, load: StreamLoad, rounds: number): Promise<Row[]> {
  const at = load.streams === 1 ? 'one after another' : `${load.streams} at once`
  return measureCase(rounds, {
    probes: {
      agent: () => cost(sides.agent, load),
      chat: () => cost(sides.chat, load),
      messages: () => cost(sides.messages, load),
      ollama: () => cost(sides.ollama, load),
    },
    rows: (['chat', 'messages', 'ollama'] as const).map((door) => ({
      measure: `processor time of ${NAMES[door]} of ${TOKENS} tokens, ${at}`,
      unit: 'us',
      product: door,
      reference: ['agent', '/v1/agent'] as const,
      of: ({ cpuMicros }: Cost) => cpuMicros,
      target: { atMost: 1.15 },
    })),
  })
}
