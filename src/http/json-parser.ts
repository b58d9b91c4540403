import type { Clock } from '../core/clock.ts'
import { createSemaphore } from '../core/semaphore.ts'
import type { ParsedJson } from './json-worker.ts'

/** The thread ends after this time without work, which frees the memory of the last body. */
const IDLE_MS = 10_000

export interface JsonParserOptions {
  readonly clock: Clock
  /** Address of `json-worker.ts`. */
  readonly workerUrl: string
}

/**
 * Parses large JSON bodies in a thread. On the event loop 40 MB take 130 ms, and half a second when
 * they consist of escapes; here 6 to 12 ms remain, for receiving the value. One body at a time;
 * tenants take turns.
 */
export function createJsonParser({ clock, workerUrl }: JsonParserOptions) {
  const turns = createSemaphore({ slots: 1 })
  let worker: Worker | null = null
  let cancelEnd = () => {}

  function end(): void {
    worker?.terminate()
    worker = null
  }

  async function ask(bytes: Uint8Array): Promise<ParsedJson> {
    cancelEnd()
    worker ??= new Worker(workerUrl)
    const thread = worker
    const { promise, resolve, reject } = Promise.withResolvers<ParsedJson>()
    const onClose = () => reject(new Error('the JSON thread ended'))
    thread.addEventListener('close', onClose)
    // Lets other events pass between receiving the value and checking it.
    thread.onmessage = ({ data }: MessageEvent<ParsedJson>) => setImmediate(() => resolve(data))
    thread.onerror = (event) => {
      event.preventDefault()
      reject(new Error('the JSON thread failed', { cause: event.error }))
    }
    try {
      thread.postMessage(bytes, [bytes.buffer as ArrayBuffer])
      return await promise
    } catch (error) {
      end()
      throw error
    } finally {
      thread.removeEventListener('close', onClose)
      cancelEnd = clock.after(IDLE_MS, end)
    }
  }

  return {
    /** The value of `bytes`, which are transferred and empty afterwards; null when not JSON. */
    parse: (owner: string, bytes: Uint8Array): Promise<ParsedJson> =>
      turns.run(owner, () => ask(bytes)),

    close: async (): Promise<void> => {
      cancelEnd()
      end()
    },
  }
}

export type JsonParser = ReturnType<typeof createJsonParser>
