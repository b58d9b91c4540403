import { environment, moonbase, ROOT } from './command.ts'
import { createProcessOutput, type ProcessOutput } from './process-output.ts'

export interface ServerOptions {
  readonly dataDir: string
  readonly env?: Readonly<Record<string, string>>
  /** In place of the product's command line. */
  readonly command?: readonly string[]
  readonly cwd?: string
  /** The whole environment, in place of the one that tests have in common. */
  readonly onlyEnv?: Readonly<Record<string, string>>
}

export interface Server extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string
  readonly dataDir: string
  readonly pid: number
  /** Everything it printed so far. */
  output(): string
  readonly printed: ProcessOutput
  /** Asks it to stop, and resolves with its exit code. */
  stop(): Promise<number>
  /** Ends it at once, as a power cut would. */
  kill(): Promise<number>
}

const running = new Set<Bun.Subprocess>()

/** Ends what tests that failed or timed out have left running; called once after the last test. */
export function endServers() {
  for (const child of running) child.kill('SIGKILL')
}

/**
 * Starts the product as a process of its own on a free port; resolves once it listens. Use
 * `await using server = await startServer(...)`, or call `stop`. Throws with what it printed when
 * it ends before it listens.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const child = Bun.spawn([...(options.command ?? moonbase()), 'serve'], {
    cwd: options.cwd ?? ROOT,
    env: options.onlyEnv ?? environment(options.dataDir, options.env),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.add(child)
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const code = await child.exited
    running.delete(child)
    return code
  }
  const printed = createProcessOutput()
  const listening = Promise.withResolvers<string>()
  const reading = Promise.all([
    readLines(child.stdout, printed, (line) => {
      const url = listeningUrl(line)
      if (url) listening.resolve(url)
    }),
    readLines(child.stderr, printed, () => {}),
  ])
  const url = await Promise.race([listening.promise, reading.then(() => null)])
  if (url === null) {
    throw new Error(`the server ended with ${await end('SIGKILL')}:\n${printed.text()}`)
  }
  return {
    url,
    dataDir: options.dataDir,
    pid: child.pid,
    output: printed.text,
    printed,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
  }
}

async function readLines(
  stream: ReadableStream<Uint8Array>,
  printed: { add(text: string): void },
  onLine: (line: string) => void,
) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const text = decoder.decode(chunk, { stream: true })
    printed.add(text)
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}

/** The address in the log line `{"event":"listening","url":"http://..."}`, else null. */
function listeningUrl(line: string): string | null {
  if (!line.startsWith('{')) return null
  const entry = JSON.parse(line) as { event?: unknown; url?: unknown }
  if (entry.event !== 'listening' || typeof entry.url !== 'string') return null
  return entry.url.replace(/\/$/, '')
}
