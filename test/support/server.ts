import { environment, moonbase, ROOT } from './command.ts'
import { createProcessOutput, type ProcessOutput } from './process-output.ts'

export interface ServerOptions {
  readonly dataDir: string
  readonly env?: Readonly<Record<string, string>>
  /** Replaces the product's command line. */
  readonly command?: readonly string[]
  readonly cwd?: string
  /** Replaces the common environment of the tests. */
  readonly onlyEnv?: Readonly<Record<string, string>>
}

export interface Server extends AsyncDisposable {
  /** Has no slash at the end. */
  readonly url: string
  readonly dataDir: string
  readonly pid: number
  /** The whole output so far. */
  output(): string
  readonly printed: ProcessOutput
  /** Sends SIGTERM, and resolves with the exit code. */
  stop(): Promise<number>
  /** Sends SIGKILL, which ends the process at once. */
  kill(): Promise<number>
}

const running = new Set<Bun.Subprocess>()

/** Ends servers that failed tests left running; called once after the last test. */
export function endServers() {
  for (const child of running) child.kill('SIGKILL')
}

/**
 * Starts the product in a new process on a free port; resolves once it listens. Use
 * `await using server = await startServer(...)`, or call `stop`. Throws with the process output
 * when the process ends before it listens.
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

/** The address in the log line `{"event":"listening","url":"http://..."}`; null in other lines. */
function listeningUrl(line: string): string | null {
  if (!line.startsWith('{')) return null
  const entry = JSON.parse(line) as { event?: unknown; url?: unknown }
  if (entry.event !== 'listening' || typeof entry.url !== 'string') return null
  return entry.url.replace(/\/$/, '')
}
