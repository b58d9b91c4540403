import { orAborted } from '../../core/abort.ts'
import type { Clock } from '../../core/clock.ts'
import { createKeeper } from './keeper.ts'
import { type AsrProcess, EngineLost, type ProcessCommand } from './process.ts'

/** After this long without work the process is stopped, and its memory given back. */
const IDLE_MS = 10 * 60_000
/** How long a process may go on with a piece of a recording that nobody waits for any more. */
const CANCEL_MS = 15_000

export interface RecogniserOptions {
  readonly command: ProcessCommand
  readonly clock: Clock
}

/** Talks to the recognising process, and stops it when there was nothing to do for long. */
export function createRecogniser({ command, clock }: RecogniserOptions) {
  const keeper = createKeeper(command, clock)
  let lastId = 0
  let stopIdle = () => {}

  /** Waits until the process is free again, or ends it. */
  async function abandon(process: AsrProcess, id: number, answer: Promise<unknown>) {
    const cancel = clock.after(CANCEL_MS, process.kill)
    try {
      process.send({ type: 'cancel', id })
      await answer
    } catch {
      // It ended, so the next call starts another one.
    } finally {
      cancel()
    }
  }

  return {
    /** Loads the model if it is not loaded. Throws `EngineUnloadable` or `EngineLost`. */
    async load(): Promise<void> {
      await keeper.loaded()
    },

    /**
     * The text of 16 kHz mono PCM; one call at a time. Settles when the process is free for the
     * next one. Throws `EngineUnloadable`, `EngineLost`, and what `pcm` throws.
     */
    async recognise(pcm: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<string> {
      stopIdle()
      const id = ++lastId
      const process = await keeper.loaded()
      const answer = process.answer()
      // Heard below; until then the process may end while the recording is still read.
      answer.catch(() => null)
      try {
        for await (const part of pcm) process.send({ type: 'samples', id, pcm: part })
        process.send({ type: 'end', id })
        const got = await orAborted(answer, signal)
        if (got.type === 'text' && got.id === id) return got.text
        throw new EngineLost('message' in got ? got.message : 'unexpected answer')
      } catch (error) {
        if (!(error instanceof EngineLost)) await abandon(process, id, answer)
        throw error
      } finally {
        if (!keeper.closed()) stopIdle = clock.after(IDLE_MS, () => void keeper.stop())
      }
    },

    /** Resolves when no process is left. */
    async close(): Promise<void> {
      stopIdle()
      await keeper.close()
    },
  }
}
