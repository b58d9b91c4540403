import { fileURLToPath } from 'node:url'
import { createKey } from '../../test/support/key.ts'
import { type Server, startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import type { StreamTarget } from './load-sse.ts'
import type { Plan } from './upstream.ts'

export type ReferenceKind = 'ok' | 'elysia' | 'raw' | 'full' | 'durable'

/** A measured server. */
export interface Program extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** Milliseconds from its start to its first answer. */
  readonly startMs: number
  readonly headers: Readonly<Record<string, string>>
  /** Turns without retrieval; each worker has its own session. */
  readonly turns: StreamTarget
}

const program = (url: URL) => [process.execPath, fileURLToPath(url)]
const REFERENCE_KEY = 'sk-bench'

/** Starts a server in a new folder, which is removed with the server. */
async function start(options: Omit<Parameters<typeof startServer>[0], 'dataDir'>) {
  const folder = tempFolder()
  try {
    const server = await startServer({ ...options, dataDir: folder.path })
    return { server, end: () => server.stop().finally(() => folder[Symbol.dispose]()) }
  } catch (error) {
    folder[Symbol.dispose]()
    throw error
  }
}

export async function startUpstream() {
  const { server, end } = await start({
    command: program(new URL('./upstream.ts', import.meta.url)),
  })
  return {
    url: server.url,
    /** Sets the plan of all following streams. */
    async plan(plan: Plan) {
      const answer = await fetch(`${server.url}/plan`, {
        method: 'PUT',
        body: JSON.stringify(plan),
      })
      if (!answer.ok) throw new Error('the stub upstream refused the plan')
    },
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}

export type Upstream = Awaited<ReturnType<typeof startUpstream>>

export interface ProgramOptions {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A path that is 200 as soon as the server is ready. */
  readonly readyPath: string
  readonly target: (server: Server) => StreamTarget
}

/** Starts a program that prints its address as the product does. */
async function startProgram(options: ProgramOptions): Promise<Program> {
  const { command, env, readyPath, target } = options
  const begin = performance.now()
  const { server, end } = await start({ command, env })
  return running(server, { begin, readyPath, turns: target(server), end })
}

export function startReference(kind: ReferenceKind, upstream: string): Promise<Program> {
  const headers = { authorization: `Bearer ${REFERENCE_KEY}` }
  return startProgram({
    command: program(new URL('./reference.ts', import.meta.url)),
    env: {
      BENCH_REFERENCE: kind,
      BENCH_UPSTREAM: upstream,
      BENCH_KEY: REFERENCE_KEY,
      // Bun's default limit is 256 concurrent requests to the upstream.
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65336',
    },
    readyPath: '/healthz',
    target: ({ url }) => agentTurns(url, headers),
  })
}

/** The product with a data folder and a key; it can be started repeatedly on that folder. */
export async function prepareProduct(upstream: string) {
  const folder = tempFolder()
  const { headers } = await createKey(folder.path)
  return {
    start: () => startProduct({ upstream, dataDir: folder.path, headers }),
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

export interface StartOptions {
  readonly upstream: string
  readonly dataDir: string
  /** Of a key. */
  readonly headers: StreamTarget['headers']
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts the product on a folder that has the key. */
export async function startProduct({ upstream, dataDir, headers, env }: StartOptions) {
  const begin = performance.now()
  const settings = { ...env, MB_LLM_BASE_URL: `${upstream}/v1`, MB_LLM_MODEL: 'fake' }
  const server = await startServer({ dataDir, env: settings })
  const turns = agentTurns(server.url, headers)
  const program = await running(server, { begin, readyPath: '/healthz', turns, end: server.stop })
  return { ...program, printed: server.printed }
}

export type Product = Awaited<ReturnType<typeof prepareProduct>>

interface Running {
  readonly begin: number
  readonly readyPath: string
  readonly turns: StreamTarget
  readonly end: () => Promise<unknown>
}

async function running(server: Server, options: Running): Promise<Program> {
  const { begin, readyPath, turns, end } = options
  const { url, pid } = server
  const answer = await fetch(`${url}${readyPath}`)
  if (!answer.ok) {
    await end()
    throw new Error(`${url}${readyPath} answered ${answer.status}`)
  }
  const startMs = performance.now() - begin
  const { headers } = turns
  return {
    url,
    pid,
    startMs,
    headers,
    turns,
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}

/** Turns without retrieval, each worker in a session of its own. */
export const agentTurns = (url: string, headers: StreamTarget['headers']): StreamTarget => ({
  url: `${url}/v1/agent`,
  headers,
  format: 'agent',
  body: (worker) => JSON.stringify({ text: 'hello', session_id: `s${worker}`, kb: false }),
})

/** The upstream itself, without a server in front. */
export const direct = ({ url }: Upstream): StreamTarget => ({
  url: `${url}/v1/chat/completions`,
  headers: {},
  format: 'openai',
  body: () => JSON.stringify({ model: 'fake', stream: true, messages: [] }),
})
