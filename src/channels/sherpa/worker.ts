import { errorMessage, type ParentLink, serveParent } from '../child/worker-link.ts'
import { type Engine, openEngine, type SherpaAddon } from './engine.ts'
import type { VoicePack } from './find.ts'
import type { AsrAnswer, AsrRequest } from './protocol.ts'

/** Loads the library by its full path, which nobody knows when this is compiled. */
export function openSherpa(pack: VoicePack): Engine {
  const addon: { exports: unknown } = { exports: {} }
  process.dlopen(addon, pack.library)
  return openEngine(addon.exports as SherpaAddon, pack)
}

/**
 * The recogniser process. sherpa-onnx must stay apart from the program for its licence, and it
 * aborts the whole process at a file that it cannot use. Resolves when the server has gone.
 */
export function runAsrWorker(open: () => Engine, parent: ParentLink<AsrRequest>): Promise<void> {
  return serveParent<AsrRequest, AsrAnswer>(parent, async (send) => createListener(open(), send))
}

/** Takes one recording at a time, part by part. */
function createListener(engine: Engine, send: (answer: AsrAnswer) => void) {
  let parts: Uint8Array[] = []
  let open = 0
  let heard = 0

  async function recognise(id: number) {
    const samples = toSamples(parts)
    parts = []
    heard = id
    try {
      send({ type: 'text', id, text: await engine.transcribe(samples, () => open !== id) })
    } catch (error) {
      send({ type: 'error', id, message: errorMessage(error) })
    }
  }

  return (request: AsrRequest) => {
    if (request.type === 'samples') {
      open = request.id
      parts.push(request.pcm)
      return
    }
    if (request.type === 'end') {
      open = request.id
      void recognise(request.id)
      return
    }
    open = 0
    parts = []
    // A recording that is being recognised answers for itself.
    if (heard !== request.id) send({ type: 'text', id: request.id, text: '' })
  }
}

function toSamples(parts: readonly Uint8Array[]): Int16Array {
  const bytes = new Uint8Array(Buffer.concat(parts))
  return new Int16Array(bytes.buffer, 0, bytes.length >> 1)
}
