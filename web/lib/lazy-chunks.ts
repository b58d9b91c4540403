import { serverAnswers, UNREACHED } from '../api/client.ts'

const AGAIN_MS = 2_000

const pause = () => new Promise((resolve) => setTimeout(resolve, AGAIN_MS))

/**
 * Loads a chunk of the console. Waits while the server is unreachable, as during a restart. Rejects
 * where the server has no such chunk, since it has another build by now.
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
