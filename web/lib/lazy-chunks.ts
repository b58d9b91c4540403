import { serverAnswers, UNREACHED } from '../api/client.ts'

/** Dispatched on the window when the server has another build than this page. */
export const OUTDATED = 'mb:outdated'

const AGAIN_MS = 2_000

const pause = () => new Promise((resolve) => setTimeout(resolve, AGAIN_MS))

/**
 * Loads a chunk of the console. Waits while the server is unreachable, as during a restart. Rejects
 * where the server has no such chunk, since it has another build by now; the frame tells of that.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    while (!(await serverAnswers())) {
      dispatchEvent(new Event(UNREACHED))
      await pause()
    }
    return load().catch((error) => {
      dispatchEvent(new Event(OUTDATED))
      throw error
    })
  }
}
