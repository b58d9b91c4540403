import type { talks } from '../../api/talks.ts'
import { isTemporary } from './fresh.ts'
import { isBreak, type Reading } from './turn-reader.ts'
import type { createTurnStore } from './turn-store.ts'

interface StopperOptions {
  readonly turns: ReturnType<typeof createTurnStore>
  /** The answers that this tab reads, by session. */
  readonly running: ReadonlyMap<string, Reading>
  readonly pause: () => Promise<void>
  readonly server: Pick<typeof talks, 'stop'>
}

/** Stops the answers that this tab reads. */
export function createTurnStopper({ turns, running, pause, server }: StopperOptions) {
  const { turnOf } = turns
  /** Turns that this tab is stopping. */
  const stopping = new Set<string>()

  /** Whether something is heard of a turn soon. */
  async function isHeard(session: string, id: string): Promise<boolean> {
    const heard = Promise.withResolvers<void>()
    const isThere = () => (turnOf(session, id)?.after ?? 0) > 0
    const end = turns.subscribe(() => isThere() && heard.resolve())
    if (!isThere() && !isTemporary(session)) await Promise.race([pause(), heard.promise])
    end()
    return isThere()
  }

  async function stopNamed(turnId: string, isOpen: () => boolean): Promise<void> {
    while (isOpen()) {
      try {
        await server.stop(turnId)
        return
      } catch (error) {
        if (!isBreak(error)) throw error
      }
      await pause()
    }
  }

  /**
   * Stops the model. The server stores what was written, and then ends the stream; one that cannot
   * be reached is told once it can. Throws `ApiError` where it refuses.
   */
  return async function stop(session: string): Promise<void> {
    const reading = running.get(session)
    if (!reading || stopping.has(reading.id)) return
    stopping.add(reading.id)
    try {
      const isKnown = reading.from === 'server' || (await isHeard(session, reading.id))
      const turnId = turnOf(session, reading.id)?.turnId
      if (turnId && isKnown) return await stopNamed(turnId, () => running.get(session) === reading)
    } finally {
      stopping.delete(reading.id)
    }
    reading.abort.abort()
    // The server may have taken the question all the same.
    const turnId = turnOf(session, reading.id)?.turnId
    if (turnId) void server.stop(turnId).catch(() => {})
  }
}
