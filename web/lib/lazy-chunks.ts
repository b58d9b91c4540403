import { serverAnswers, UNREACHED } from '../api/client.ts'

const AGAIN_MS = 2_000

const pause = () => new Promise((resolve) => setTimeout(resolve, AGAIN_MS))

/**
 * Loads a chunk of the console. Waits while the server is unreachable, as during a restart. A chunk
 * that is missing on a reachable server belongs to an older version; the router then reloads the
 * page.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    while (!(await serverAnswers())) {
      dispatchEvent(new Event(UNREACHED))
      await pause()
    }
    return load()
  }
}
