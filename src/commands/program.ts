import type { Program } from '../wiring/adapters.ts'

/** Commands by which this program starts child processes of itself; not in the help text. */

/** The embedding process. */
export const EMBED_COMMAND = 'embed-worker'
/** The recogniser process. */
export const ASR_COMMAND = 'asr-worker'
/** The process that tells voices from noise. */
export const VAD_COMMAND = 'vad-worker'
/** The process that parses untrusted bytes: recordings and pages. */
export const PARSE_COMMAND = 'parse-worker'
/** The program that serves a model, which takes the place of this one. */
export const MODEL_COMMAND = 'model-worker'

/** The file that Bun is told to run; none for the executable, which has it inside. */
export const mainFile = (): readonly string[] => (Bun.main.startsWith('/$bunfs/') ? [] : [Bun.main])

/**
 * Where this program finds its own parts, which differs between the sources and the executable.
 * `main` is the address of `src/main.ts`; threads keep their place beside it. `self` is how it
 * starts itself again.
 */
export function programAt(main: string, self: readonly string[]): Program {
  const thread = (path: string) => new URL(path, main).href
  return {
    embedWorker: [...self, EMBED_COMMAND],
    asrWorker: [...self, ASR_COMMAND],
    vadWorker: [...self, VAD_COMMAND],
    parseWorker: [...self, PARSE_COMMAND],
    backup: [...self, 'backup', '--json'],
    modelWorker: [...self, MODEL_COMMAND],
    writerUrl: thread('./storage/sqlite/writer.ts'),
    readerUrl: thread('./storage/sqlite/reader.ts'),
    encoderUrl: thread('./audio/encode-worker.ts'),
    jsonUrl: thread('./http/json-worker.ts'),
  }
}
