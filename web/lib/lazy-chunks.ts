import { serverAnswers } from '../api/client.ts'

const AGAIN_MS = 2_000

/** Sent to the window while a part waits for the server. */
export const AWAY = 'mb:away'

const pause = () => new Promise((resolve) => setTimeout(resolve, AGAIN_MS))

/**
 * Loads a part of the console. While the server is away, as when it is restarted, this waits for
 * it; a part that is missing although the server answers was replaced by a newer version, and the
 * router then loads the page again.
 */
export async function loadChunk<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    while (!(await serverAnswers())) {
      dispatchEvent(new Event(AWAY))
      await pause()
    }
    return load()
  }
}
