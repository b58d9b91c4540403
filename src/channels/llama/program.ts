import { dirname } from 'node:path'
import type { ModelPack, PackModelKind } from './find.ts'
import type { ModelEnd, ModelProcess } from './server.ts'

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

export interface ModelStart {
  /** The command that starts the program of the pack, and its arguments. */
  readonly command: readonly string[]
  readonly pack: ModelPack
  readonly kind: PackModelKind
  /** Arguments of the operator. */
  readonly args: readonly string[]
  readonly apiKey: string
  /** The environment of the server. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Starts llama.cpp without our settings and secrets; its libraries lie beside the program. */
export function startModel(start: ModelStart): ModelProcess {
  const { pack, kind } = start
  const port = freePort()
  const foreign = Object.fromEntries(
    Object.entries(start.env).filter(([name]) => !/^(MB_|AWS_|BUN_|MOONBASE_)/.test(name)),
  )
  const path = [dirname(pack.program), foreign.LD_LIBRARY_PATH].filter(Boolean).join(':')
  const child = Bun.spawn(argvOf(start, port), {
    cwd: pack.folder,
    env: { ...DEFAULTS[kind], ...foreign, LD_LIBRARY_PATH: path, DYLD_LIBRARY_PATH: path },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const printed = readStart(child.stderr)
  return {
    port,
    kill: () => child.kill('SIGKILL'),
    exited: child.exited.then(async (code) => ({
      line: whyNotStarted(await printed),
      status: child.signalCode ?? code,
    })),
  }
}

const argvOf = ({ command, pack, kind, args, apiKey }: ModelStart, port: number): string[] => [
  ...command,
  pack.program,
  ...(pack.program.endsWith('.llamafile') ? ['--server', '--nobrowser'] : []),
  ...(pack.models[kind] ? ['-m', pack.models[kind]] : []),
  ...FLAGS[kind],
  ...args,
  // The last value counts, so no argument above can open the port to the network.
  ...['--host', '127.0.0.1', '--port', String(port), '--api-key', apiKey],
]

/** A loopback port that is free now. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  listener.stop(true)
  return listener.port
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
