import { fileURLToPath } from 'node:url'
import { createKey } from '../../test/support/key.ts'
import { type Server, startServer } from '../../test/support/server.ts'
import { tempFolder } from '../../test/support/temp.ts'
import type { StreamTarget } from './load-sse.ts'
import type { Plan } from './upstream.ts'

export type ReferenceKind = 'ok' | 'raw' | 'full' | 'durable'

/** A server under measure. */
export interface Program extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** Milliseconds from its start until it answered. */
  readonly startMs: number
  readonly headers: Readonly<Record<string, string>>
}

const program = (url: URL) => [process.execPath, fileURLToPath(url)]
const REFERENCE_KEY = 'sk-bench'

/** Starts a server in a folder of its own, which goes when the server goes. */
async function start(options: Omit<Parameters<typeof startServer>[0], 'dataDir'>) {
  const folder = tempFolder()
  const server = await startServer({ ...options, dataDir: folder.path })
  return { server, end: () => server.stop().finally(() => folder[Symbol.dispose]()) }
}

export async function startUpstream() {
  const { server, end } = await start({
    command: program(new URL('./upstream.ts', import.meta.url)),
  })
  return {
    url: server.url,
    /** Sets what streams do from now on. */
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

export async function startReference(kind: ReferenceKind, upstream: string): Promise<Program> {
  const env = {
    BENCH_REFERENCE: kind,
    BENCH_UPSTREAM: upstream,
    BENCH_KEY: REFERENCE_KEY,
    // Else Bun calls the upstream 256 times at once and no more.
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65336',
  }
  const begin = performance.now()
  const command = program(new URL('./reference.ts', import.meta.url))
  const { server, end } = await start({ command, env })
  const headers = { authorization: `Bearer ${REFERENCE_KEY}` }
  return running(server, begin, headers, end)
}

/** The product: a folder with a key, on which it may be started again and again. */
export async function prepareProduct(upstream: string) {
  const folder = tempFolder()
  const env = { MB_LLM_BASE_URL: `${upstream}/v1`, MB_LLM_MODEL: 'fake' }
  const { headers } = await createKey(folder.path, { env })
  return {
    dataDir: folder.path,
    async start(): Promise<Program> {
      const begin = performance.now()
      const server = await startServer({ dataDir: folder.path, env })
      return running(server, begin, headers, server.stop)
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

export type Product = Awaited<ReturnType<typeof prepareProduct>>

async function running(
  server: Server,
  begin: number,
  headers: Readonly<Record<string, string>>,
  end: () => Promise<unknown>,
): Promise<Program> {
  const answer = await fetch(`${server.url}/healthz`)
  if (!answer.ok) throw new Error(`${server.url}/healthz answered ${answer.status}`)
  const startMs = performance.now() - begin
  const { url, pid } = server
  return { url, pid, startMs, headers, [Symbol.asyncDispose]: async () => void (await end()) }
}

/** Turns without retrieval, each worker in a session of its own. */
export const turns = ({ url, headers }: Program): StreamTarget => ({
  url: `${url}/v1/agent`,
  headers,
  format: 'agent',
  body: (worker) => JSON.stringify({ text: 'hello', session_id: `s${worker}`, kb: false }),
})

/** The upstream itself, with nothing between. */
export const direct = ({ url }: Upstream): StreamTarget => ({
  url: `${url}/v1/chat/completions`,
  headers: {},
  format: 'openai',
  body: () => JSON.stringify({ model: 'fake', stream: true, messages: [] }),
})
