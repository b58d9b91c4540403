export interface ThreadOptions<Asked, Answered> {
  /** Address of the thread's file. */
  readonly url: string
  /** Tells which request an answer belongs to; without it one request is open at a time. */
  readonly keyOf?: (message: Asked | Answered) => number
  /** The error of the requests that the thread did not answer. */
  readonly ended: (reason: string) => Error
  /** Called once, when the thread has ended for any reason and before its requests fail. */
  readonly onEnd?: () => void
}

/**
 * Starts a thread. When it ends, by an error, by itself or by `end`, its open requests fail at
 * once, and so does each later one: no caller waits for an answer that cannot come.
 */
export function startThread<Asked, Answered>(options: ThreadOptions<Asked, Answered>) {
  const { url, keyOf = () => 0, ended, onEnd = () => {} } = options
  const worker = new Worker(url)
  const waiting = new Map<number, PromiseWithResolvers<Answered>>()
  let fault: Error | null = null

  function end(reason = 'it was ended'): void {
    if (fault) return
    fault = ended(reason)
    onEnd()
    worker.terminate()
    for (const { reject } of waiting.values()) reject(fault)
    waiting.clear()
  }

  worker.onmessage = ({ data }: MessageEvent<Answered>) => {
    const pending = waiting.get(keyOf(data))
    waiting.delete(keyOf(data))
    pending?.resolve(data)
  }
  worker.onerror = (event) => {
    event.preventDefault()
    end(lastWords(event.message))
  }
  // A thread that calls `process.exit` ends without an error.
  worker.addEventListener('close', () => end('its thread ended'))

  return {
    ask(request: Asked, transfer: ArrayBuffer[] = []): Promise<Answered> {
      if (fault) return Promise.reject(fault)
      const pending = Promise.withResolvers<Answered>()
      worker.postMessage(request, transfer)
      waiting.set(keyOf(request), pending)
      return pending.promise
    },
    /** Sends a message that has no answer; an ended thread gets none. */
    tell(message: Asked): void {
      if (!fault) worker.postMessage(message)
    },
    isOpen: () => fault === null,
    end: () => end(),
  }
}

export type Thread<Asked, Answered> = ReturnType<typeof startThread<Asked, Answered>>

/** Bun puts lines of source code around the error of a thread. */
const lastWords = (message: string) => /^\w*error: .*/im.exec(message)?.[0] ?? 'unknown error'

interface Startable {
  isOpen(): boolean
  end(): void
}

/**
 * A thread that is started when it is asked for, and again when the last one has ended. `open`
 * makes it ready; when that fails, the thread ends, and its callers get the error.
 */
export function createRestartingThread<One extends Startable>(
  start: () => One,
  open: (thread: One) => Promise<unknown>,
) {
  let last: { readonly thread: One; readonly opened: Promise<One> } | null = null
  let ready: One | null = null

  async function made(thread: One): Promise<One> {
    try {
      await open(thread)
    } catch (error) {
      thread.end()
      throw error
    }
    ready = thread
    return thread
  }

  return {
    /** The open thread, or a new one. */
    get(): Promise<One> {
      if (last?.thread.isOpen()) return last.opened
      const thread = start()
      last = { thread, opened: made(thread) }
      return last.opened
    },
    isReady: () => ready?.isOpen() ?? false,
    /** The open thread; null when there is none, or when it could not be opened. */
    current: async (): Promise<One | null> =>
      last?.thread.isOpen() ? last.opened.catch(() => null) : null,
  }
}
