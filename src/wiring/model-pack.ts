import { basename, dirname } from 'node:path'
import { findModelPack, type ModelPack, type PackModelKind } from '../channels/llama/find.ts'
import { LlamaServer, type ModelProcess } from '../channels/llama/server.ts'
import type { UpstreamFetch } from '../channels/net/upstream-call.ts'
import type { Config } from '../config.ts'
import { type Clock, MINUTE_MS } from '../core/clock.ts'
import { randomHex } from '../core/crypto.ts'
import type { Logger } from '../core/log.ts'

export interface ModelPackParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: UpstreamFetch
  /** How this program starts the program of the pack. */
  readonly modelWorker: readonly string[]
}

export type ModelPackServers = ReturnType<typeof openModelPack>

/** Where a model pack may lie: in the data folder, or beside the executable. */
export const lookForModelPack = ({ MB_DATA_DIR }: Config) =>
  findModelPack([MB_DATA_DIR, dirname(process.execPath)])

/**
 * The models of the pack, each served by a program of its own on a loopback port with a random key.
 * None is started here.
 */
export function openModelPack(parts: ModelPackParts) {
  const finding = lookForModelPack(parts.config)
  const servers: Partial<Record<PackModelKind, LlamaServer>> = {}
  const { pack } = finding
  for (const kind of ['chat', 'embed', 'rerank'] as const) {
    if (pack?.models[kind] !== undefined) servers[kind] = openServer(parts, pack, kind)
  }
  return {
    finding,
    servers,
    async close(): Promise<void> {
      await Promise.all(Object.values(servers).map((server) => server.close()))
    },
  }
}

function openServer(
  { config, clock, log, fetch, modelWorker }: ModelPackParts,
  pack: ModelPack,
  kind: PackModelKind,
): LlamaServer {
  const file = pack.models[kind] ?? pack.program
  const apiKey = randomHex(24)
  const own = kind === 'chat' ? (config.MB_MODEL_ARGS ?? '').split(/\s+/).filter(Boolean) : []
  const argv = (port: number) => [
    ...modelWorker,
    pack.program,
    ...(pack.program.endsWith('.llamafile') ? ['--server', '--nobrowser'] : []),
    ...(pack.models[kind] ? ['-m', pack.models[kind]] : []),
    ...FLAGS[kind],
    ...own,
    // Last, so that nothing above opens it to the network.
    ...['--host', '127.0.0.1', '--port', String(port), '--api-key', apiKey],
  ]
  return new LlamaServer({
    name: basename(file).replace(/\.(gguf|llamafile)$/i, ''),
    apiKey,
    start() {
      const port = freePort()
      return { port, ...startProgram(argv(port), dirname(pack.program), pack.folder) }
    },
    idleMs: config.MB_MODEL_IDLE_MIN * MINUTE_MS,
    ...{ fetch, clock, log },
  })
}

const FLAGS: Readonly<Record<PackModelKind, readonly string[]>> = {
  chat: [],
  embed: ['--embedding'],
  rerank: ['--reranking'],
}

/** A loopback port that nobody has now. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  return listener.port
}

/** The libraries of llama.cpp lie beside its program. It gets no setting and no secret of ours. */
function startProgram(
  argv: readonly string[],
  libraries: string,
  cwd: string,
): Omit<ModelProcess, 'port'> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(MB_|AWS_|BUN_|MOONBASE_)/.test(name)),
  )
  const path = [libraries, env.LD_LIBRARY_PATH].filter(Boolean).join(':')
  const child = Bun.spawn([...argv], {
    cwd,
    env: { ...env, LD_LIBRARY_PATH: path, DYLD_LIBRARY_PATH: path },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const last = lastLine(child.stderr)
  return {
    kill: () => child.kill('SIGKILL'),
    exited: child.exited.then(() => last),
  }
}

const LINE_CHARS_MAX = 300
/** What is printed while a model loads; later lines might quote a prompt. */
const START_CHARS_MAX = 256 * 1024

/** Reads to the end, and keeps the last line of the beginning. */
async function lastLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let chars = 0
  let tail = ''
  for await (const chunk of stream) {
    chars += chunk.length
    if (chars > START_CHARS_MAX) continue
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4_000)
  }
  return tail.trim().split('\n').at(-1)?.slice(0, LINE_CHARS_MAX) ?? ''
}
