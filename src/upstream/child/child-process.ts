import type { Clock } from '../../core/clock.ts'

/**
 * The environment of child processes, which do not inherit the server's. It turns off Bun's crash
 * reports and the telemetry of ONNX Runtime: the server connects only where the operator
 * configured.
 */
const CHILD_ENV = {
  BUN_ENABLE_CRASH_REPORTING: '0',
  DO_NOT_TRACK: '1',
  ORT_DISABLE_TELEMETRY: '1',
} as const

/** How a child process is started: this executable with one of its worker commands. */
export interface ChildCommand {
  readonly argv: readonly string[]
  /** Added to `CHILD_ENV`; nothing of the server's own environment is passed on. */
  readonly env?: Readonly<Record<string, string>>
}

/** The messages that every child process sends besides its answers. */
export type ChildState =
  /** It has loaded what it works with; also the answer to `ping`. */
  | { readonly type: 'ready' }
  /** It cannot load what it works with. */
  | { readonly type: 'unloadable'; readonly message: string }

/** Asks for `ready`. */
export interface Ping {
  readonly type: 'ping'
}

export interface Child<Request, Answer> {
  readonly pid: number
  /** Resolves when the child is loaded; rejects with `ChildUnloadable`. */
  readonly ready: Promise<void>
  /** Throws `ChildLost` when the process is gone. */
  send(request: Request): void
  /** The next answer, one caller at a time. Rejects with `ChildLost` when the process ends. */
  answer(): Promise<Answer>
  /** Resolves when the process answers. Kills it and throws `ChildLost` when it does not. */
  ping(): Promise<void>
  /** Ends the process without its exit handlers. */
  kill(): void
  readonly exited: Promise<void>
}

/** The process ended, does not answer or cannot be started; a new one may work. */
export class ChildLost extends Error {
  override readonly name = 'ChildLost'
}

/** The process cannot load its model; the message is the library's own, for the operator. */
export class ChildUnloadable extends Error {
  override readonly name = 'ChildUnloadable'
}

/** Enough to load a large model from a slow disk. */
const LOAD_MS_MAX = 60_000
/** An idle process answers at once. */
const PING_MS_MAX = 5_000

/** Starts a child process that talks by structured clones. `onExit` is called once, at its end. */
export function startChild<Request, Answer>(
  command: ChildCommand,
  clock: Clock,
  onExit: () => void,
): Child<Request, Answer> {
  const stderr = createStderrSummary()
  const inbox = createInbox<Answer | ChildState>()
  const exit = Promise.withResolvers<void>()
  const child = spawn(command, inbox.push, (_, code, signal) => {
    const words = stderr.words() ?? `the process ended with ${signal ?? code}`
    inbox.close(new ChildLost(words))
    onExit()
    exit.resolve()
  })
  const reading = stderr.read(child.stderr)
  const kill = () => child.kill('SIGKILL')

  function send(request: Request | Ping): void {
    try {
      child.send(request)
    } catch (cause) {
      throw new ChildLost('the process is gone', { cause })
    }
  }

  async function within<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
    const cancel = clock.after(ms, kill)
    try {
      return await work()
    } finally {
      cancel()
    }
  }

  async function load(): Promise<void> {
    try {
      const first = (await within(LOAD_MS_MAX, inbox.next)) as ChildState
      if (first.type === 'unloadable') throw new Error(first.message)
    } catch (cause) {
      kill()
      await reading
      const words = stderr.words() ?? (cause instanceof Error ? cause.message : 'unknown')
      throw new ChildUnloadable(words, { cause })
    }
  }

  return {
    pid: child.pid,
    ready: load(),
    send,
    answer: () => inbox.next() as Promise<Answer>,
    async ping() {
      send({ type: 'ping' })
      await within(PING_MS_MAX, inbox.next)
    },
    kill,
    exited: exit.promise,
  }
}

type OnExit = NonNullable<Bun.Spawn.OptionsObject<'ignore', 'ignore', 'pipe'>['onExit']>

function spawn({ argv, env }: ChildCommand, ipc: (message: never) => void, onExit: OnExit) {
  try {
    return Bun.spawn([...argv], {
      env: { ...env, ...CHILD_ENV },
      stdio: ['ignore', 'ignore', 'pipe'],
      serialization: 'advanced',
      ipc,
      onExit,
    })
  } catch (cause) {
    throw new ChildLost('the process cannot be started', { cause })
  }
}

/** Messages in the order they came; `next` waits for one. */
function createInbox<Message>() {
  const messages: Message[] = []
  let waiting: PromiseWithResolvers<Message> | null = null
  let closed: Error | null = null
  return {
    push(message: Message): void {
      if (waiting) waiting.resolve(message)
      else messages.push(message)
      waiting = null
    },
    close(error: Error): void {
      closed = error
      waiting?.reject(error)
      waiting = null
    },
    async next(): Promise<Message> {
      const [first] = messages
      if (first !== undefined) return messages.shift() as Message
      if (closed) throw closed
      waiting = Promise.withResolvers()
      return waiting.promise
    },
  }
}

const CHARS_MAX = 16_000
/** The last line of an uncaught error of ONNX Runtime, and the log lines of sherpa-onnx. */
const CAUSES = [/^\s*what\(\):\s*(.+)$/m, /^\S*sherpa-onnx\/\S+:\d+ (.+)$/m]

/** Finds the cause in what a native library prints before it aborts its process. */
export function createStderrSummary() {
  let text = ''
  return {
    /** Reads to the end of the stream and keeps its beginning. */
    async read(stream: ReadableStream<Uint8Array>): Promise<void> {
      const decoder = new TextDecoder()
      for await (const chunk of stream) {
        if (text.length < CHARS_MAX) text += decoder.decode(chunk, { stream: true })
      }
    },
    /** One line for the operator; null when no known line was printed. */
    words(): string | null {
      const found = CAUSES.map((pattern) => pattern.exec(text)?.[1]?.trim()).find(Boolean)
      return found ?? null
    },
  }
}
