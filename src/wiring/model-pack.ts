import { basename, dirname } from 'node:path'
import { findModelPack, type ModelPack, type PackModelKind } from '../channels/llama/find.ts'
import { LlamaServer, type ModelEnd, type ModelProcess } from '../channels/llama/server.ts'
import type { Config } from '../config.ts'
import { type Clock, MINUTE_MS } from '../core/clock.ts'
import { randomHex } from '../core/crypto.ts'
import type { Logger } from '../core/log.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'

interface ModelPackNeeds {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: UpstreamFetch
  /** The command that starts the program of the pack. */
  readonly modelWorker: readonly string[]
}

/** Where a model pack may lie: in the data folder, or beside the executable. */
export const lookForModelPack = ({ MB_DATA_DIR }: Config) =>
  findModelPack([MB_DATA_DIR, dirname(process.execPath)])

/**
 * The models of the pack, each served by a program of its own on a loopback port with a random key.
 * None is started here.
 */
export function openModelPack(needs: ModelPackNeeds) {
  const finding = lookForModelPack(needs.config)
  const servers: Partial<Record<PackModelKind, LlamaServer>> = {}
  const { pack } = finding
  for (const kind of ['chat', 'embed', 'rerank'] as const) {
    if (pack?.models[kind] !== undefined) servers[kind] = openServer(needs, pack, kind)
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
  { config, clock, log, fetch, modelWorker }: ModelPackNeeds,
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
    // The last value counts, so no argument above can open the port to the network.
    ...['--host', '127.0.0.1', '--port', String(port), '--api-key', apiKey],
  ]
  return new LlamaServer({
    name: basename(file).replace(/\.(gguf|llamafile)$/i, ''),
    apiKey,
    start() {
      const port = freePort()
      const { kill, exited } = startProgram(argv(port), DEFAULTS[kind], pack)
      return { port, kill, exited }
    },
    idleMs: config.MB_MODEL_IDLE_MIN * MINUTE_MS,
    fetch,
    clock,
    log,
  })
}

const FLAGS: Readonly<Record<PackModelKind, readonly string[]>> = {
  chat: [],
  embed: ['--embedding'],
  rerank: ['--reranking'],
}

/**
 * Arguments that `MB_MODEL_ARGS` may change. They are passed as environment variables, because a
 * program that is too old for one of them then ignores it.
 *
 * Without a limit of the context, a model takes memory for the longest one that it was trained on,
 * more than small machines have. 16,384 tokens hold what a session remembers and the passages found
 * for it. Without a limit of the cache, ended conversations fill 8 GB. With few HTTP threads
 * `/health` is not answered while many turns wait. Builds of 2025 accept tools only with Jinja.
 */
const CHAT_DEFAULTS = {
  LLAMA_ARG_CTX_SIZE: '16384',
  LLAMA_ARG_CACHE_RAM: '1024',
  LLAMA_ARG_THREADS_HTTP: '64',
  LLAMA_ARG_JINJA: '1',
}
/** A text is embedded at once or refused, and a chunk may be longer than the usual 512 tokens. */
const TEXT_DEFAULTS = {
  LLAMA_ARG_CTX_SIZE: '2048',
  LLAMA_ARG_BATCH: '2048',
  LLAMA_ARG_UBATCH: '2048',
  LLAMA_ARG_N_PARALLEL: '1',
  LLAMA_ARG_THREADS_HTTP: '64',
}
const DEFAULTS = { chat: CHAT_DEFAULTS, embed: TEXT_DEFAULTS, rerank: TEXT_DEFAULTS }

/** A loopback port that is free now. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  return listener.port
}

/** Starts llama.cpp without our settings and secrets; its libraries lie beside the program. */
function startProgram(
  argv: readonly string[],
  defaults: Readonly<Record<string, string>>,
  { program, folder }: ModelPack,
): Omit<ModelProcess, 'port'> {
  const isForeign = (name: string) => !/^(MB_|AWS_|BUN_|MOONBASE_)/.test(name)
  const path = [dirname(program), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':')
  // Of two entries with one name the last counts.
  const env = Object.fromEntries([
    ...Object.entries(defaults),
    ...Object.entries(process.env).filter(([name]) => isForeign(name)),
    ['LD_LIBRARY_PATH', path],
    ['DYLD_LIBRARY_PATH', path],
  ])
  const child = Bun.spawn([...argv], {
    cwd: folder,
    env,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const printed = readStart(child.stderr)
  return {
    kill: () => child.kill('SIGKILL'),
    exited: child.exited.then(async (code) => ({
      line: whyNotStarted(await printed),
      status: child.signalCode ?? code,
    })),
  }
}

const START_BYTES_MAX = 256 * 1024
const LINE_CHARS_MAX = 300

/** The beginning of what is printed, where the messages of loading are; reads to the end. */
async function readStart(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes <= START_BYTES_MAX) text += decoder.decode(chunk, { stream: true })
  }
  return text
}

/** The first error, because later ones only follow from it; without one the last line. */
function whyNotStarted(printed: string): ModelEnd['line'] {
  const lines = printed.trim().split('\n')
  const line = lines.find((each) => /\berror\b/i.test(each)) ?? lines.at(-1) ?? ''
  return line.slice(0, LINE_CHARS_MAX)
}
