import type { Clock } from '../core/clock.ts'
import { createSemaphore } from '../core/semaphore.ts'
import { createRestartingThread, startThread } from '../core/thread.ts'
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
  const thread = createRestartingThread(
    () =>
      startThread<Uint8Array, ParsedJson>({
        url: workerUrl,
        ended: (reason) => new Error(`the JSON thread stopped: ${reason}`),
      }),
    async () => {},
  )
  let cancelEnd = () => {}

  const end = async () => (await thread.current())?.end()

  async function ask(bytes: Uint8Array): Promise<ParsedJson> {
    cancelEnd()
    const { ask } = await thread.get()
    try {
      const parsed = await ask(bytes, [bytes.buffer as ArrayBuffer])
      // Lets other events pass between receiving the value and checking it.
      await new Promise(setImmediate)
      return parsed
    } finally {
      cancelEnd = clock.after(IDLE_MS, end)
    }
  }

  return {
    /** The value of `bytes`, which are transferred and empty afterwards; null when not JSON. */
    parse: (owner: string, bytes: Uint8Array): Promise<ParsedJson> =>
      turns.run(owner, () => ask(bytes)),

    close: async (): Promise<void> => {
      cancelEnd()
      await end()
    },
  }
}

export type JsonParser = ReturnType<typeof createJsonParser>
